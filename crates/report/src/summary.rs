//! What was found, in plain sentences.

use dyno_stats::{PAIRS_MIN, PairedRatio, geometric_mean};

use crate::model::{Cell, Content, Matrix, System};
use crate::number::{counted, ratio};
use crate::phrases::too_few;

/// A paragraph for each candidate.
pub(crate) fn summary(systems: &[System], relative: &Matrix<PairedRatio>) -> Vec<String> {
    let Some(base) = systems.iter().find(|system| system.is_base) else { return Vec::new() };
    let candidates = systems.iter().filter(|system| !system.is_base);
    candidates.map(|candidate| paragraph(candidate, base, &tests(candidate, relative))).collect()
}

/// A candidate in a step at a client count.
struct Test<'a> {
    step: &'a str,
    cell: &'a Cell<PairedRatio>,
}

fn tests<'a>(candidate: &System, relative: &'a Matrix<PairedRatio>) -> Vec<Test<'a>> {
    let of_row =
        |row: &'a crate::Row<PairedRatio>| row.cells.iter().map(|cell| Test { step: &row.step, cell });
    let is_planned = |test: &Test<'_>| test.cell.content != Content::Unplanned;
    relative
        .rows
        .iter()
        .flat_map(of_row)
        .filter(|test| test.cell.system == candidate.id && is_planned(test))
        .collect()
}

/// Which way a test went.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Faster,
    Slower,
    Unclear,
}

/// By the interval where there is one, else by the ratio alone.
fn direction(paired: &PairedRatio) -> Direction {
    let is_unclear = paired.interval.is_some_and(|interval| !interval.excludes_one());
    match paired.ratio {
        _ if is_unclear => Direction::Unclear,
        ratio if ratio > 1.0 => Direction::Faster,
        ratio if ratio < 1.0 => Direction::Slower,
        _ => Direction::Unclear,
    }
}

fn paragraph(candidate: &System, base: &System, tests: &[Test<'_>]) -> String {
    let measured: Vec<(&Test<'_>, &PairedRatio)> =
        tests.iter().filter_map(|test| Some((test, test.cell.value()?))).collect();
    if measured.is_empty() {
        return format!("{} cannot be compared with {}: no test has trials of both.", candidate.id, base.id);
    }
    let mut sentences = vec![verdict(candidate, base, &measured)];
    sentences.extend(overall(&measured));
    sentences.extend(extremes(&measured));
    let failed = tests.iter().filter(|test| test.cell.content == Content::Failed).count();
    if failed > 0 {
        sentences.push(format!("It failed in {}.", counted(failed as u64, "test")));
    }
    let most_pairs = measured.iter().map(|(_, paired)| paired.pairs).max().unwrap_or(0);
    if most_pairs < PAIRS_MIN {
        sentences.push(too_few(most_pairs));
    }
    sentences.join(" ")
}

/// `b is faster than a in 7 of 12 tests and slower in 3; 2 show no clear difference.`
fn verdict(candidate: &System, base: &System, measured: &[(&Test<'_>, &PairedRatio)]) -> String {
    let count = |wanted| measured.iter().filter(|(_, paired)| direction(paired) == wanted).count();
    let (faster, slower, unclear) =
        (count(Direction::Faster), count(Direction::Slower), count(Direction::Unclear));
    let of = format!("of {}", counted(measured.len() as u64, "test"));
    let mut text = match (faster, slower) {
        (0, 0) => format!("{} shows no clear difference from {} in {}", candidate.id, base.id, &of[3..]),
        (0, _) => format!("{} is slower than {} in {slower} {of}", candidate.id, base.id),
        (_, 0) => format!("{} is faster than {} in {faster} {of}", candidate.id, base.id),
        _ => format!("{} is faster than {} in {faster} {of} and slower in {slower}", candidate.id, base.id),
    };
    if unclear > 0 && faster + slower > 0 {
        text += &format!("; {unclear} {} no clear difference", if unclear == 1 { "shows" } else { "show" });
    }
    text + "."
}

/// The one number over all tests.
fn overall(measured: &[(&Test<'_>, &PairedRatio)]) -> Option<String> {
    let ratios: Vec<f64> = measured.iter().map(|(_, paired)| paired.ratio).collect();
    let mean = geometric_mean(&ratios)?;
    (ratios.len() > 1)
        .then(|| format!("Over all tests it gives {} times the throughput (geometric mean).", ratio(mean)))
}

/// The biggest win and the biggest loss.
fn extremes(measured: &[(&Test<'_>, &PairedRatio)]) -> Option<String> {
    let biggest = |wanted, is_further: fn(f64, f64) -> bool| {
        measured
            .iter()
            .filter(|(_, paired)| direction(paired) == wanted)
            .reduce(|best, next| if is_further(next.1.ratio, best.1.ratio) { next } else { best })
            .map(|(test, paired)| {
                let clients = counted(u64::from(test.cell.clients), "client");
                format!("{} at {clients}, {} times", test.step, ratio(paired.ratio))
            })
    };
    let win = biggest(Direction::Faster, |next, best| next > best);
    let loss = biggest(Direction::Slower, |next, best| next < best);
    match (win, loss) {
        (Some(win), Some(loss)) => Some(format!("Biggest win: {win}; biggest loss: {loss}.")),
        (Some(win), None) => Some(format!("Biggest win: {win}.")),
        (None, Some(loss)) => Some(format!("Biggest loss: {loss}.")),
        (None, None) => None,
    }
}

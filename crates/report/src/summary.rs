//! What was found, in plain sentences.

use dyno_stats::{PAIRS_MIN, PairedRatio, geometric_mean, median};

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
pub(crate) enum Direction {
    Faster,
    Slower,
    Unclear,
}

/// By the interval where there is one, else by the ratio alone.
pub(crate) fn direction(paired: &PairedRatio) -> Direction {
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
    if let Some(original) = &candidate.twin_of {
        return noise(candidate, original, &measured);
    }
    let mut sentences = vec![verdict(candidate, base, &measured)];
    sentences.extend(overall(&measured));
    sentences.extend(extremes(&measured));
    let failed = tests.iter().filter(|test| test.cell.content == Content::Failed).count();
    if failed > 0 {
        sentences.push(format!("It failed in {}.", counted(failed as u64, "test")));
    }
    sentences.extend(doubt(&measured));
    sentences.join(" ")
}

/// What a system measured a second time says: differences as small as its own mean nothing.
fn noise(twin: &System, original: &str, measured: &[(&Test<'_>, &PairedRatio)]) -> String {
    let apart = |ratio: f64| if ratio < 1.0 { 1.0 / ratio - 1.0 } else { ratio - 1.0 };
    let differences: Vec<f64> = measured.iter().map(|(_, paired)| 100.0 * apart(paired.ratio)).collect();
    let widest = differences.iter().copied().fold(0.0, f64::max);
    let middle = median(&differences).unwrap_or(0.0);
    format!(
        "{} is {original} measured a second time: the two differ by {middle:.1}% in the middle of {} and by {widest:.1}% \
         at the most, which is noise.",
        twin.id,
        counted(measured.len() as u64, "test")
    )
}

/// Whether every test has enough trials for an interval.
fn all_are_sure(measured: &[(&Test<'_>, &PairedRatio)]) -> bool {
    measured.iter().all(|(_, paired)| paired.interval.is_some())
}

/// `b is faster than a in 7 of 12 tests and slower in 3; 2 show no clear difference.`
fn verdict(candidate: &System, base: &System, measured: &[(&Test<'_>, &PairedRatio)]) -> String {
    let count = |wanted| measured.iter().filter(|(_, paired)| direction(paired) == wanted).count();
    let (faster, slower, unclear) =
        (count(Direction::Faster), count(Direction::Slower), count(Direction::Unclear));
    let is = if all_are_sure(measured) { "is" } else { "came out" };
    let (candidate, base) = (&candidate.id, &base.id);
    let tests = counted(measured.len() as u64, "test");
    let differences = match (faster, slower) {
        (0, 0) => return format!("{candidate} shows no clear difference from {base} in {tests}."),
        (0, _) => format!("slower than {base} in {slower} of {tests}"),
        (_, 0) => format!("faster than {base} in {faster} of {tests}"),
        _ => format!("faster than {base} in {faster} of {tests} and slower in {slower}"),
    };
    let rest = match unclear {
        0 => String::new(),
        1 => "; 1 shows no clear difference".to_owned(),
        _ => format!("; {unclear} show no clear difference"),
    };
    format!("{candidate} {is} {differences}{rest}.")
}

/// What is said where tests have too few trials.
fn doubt(measured: &[(&Test<'_>, &PairedRatio)]) -> Option<String> {
    let most_pairs = measured.iter().map(|(_, paired)| paired.pairs).max()?;
    let unsure = measured.iter().filter(|(_, paired)| paired.interval.is_none()).count();
    match unsure {
        0 => None,
        _ if most_pairs < PAIRS_MIN => Some(too_few(most_pairs)),
        1 => Some(format!("1 test has fewer than {PAIRS_MIN} paired trials: its difference may be chance.")),
        _ => Some(format!(
            "{unsure} tests have fewer than {PAIRS_MIN} paired trials: their differences may be chance."
        )),
    }
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

#[cfg(test)]
mod tests;

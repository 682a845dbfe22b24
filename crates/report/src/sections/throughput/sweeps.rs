//! Sweeps: every configuration at every client count, and the effect of each factor.

use dyno_judge::{BestLevel, Effect, FactorSensitivity, Finding, Interaction, Sensitivity};

use crate::document::{Line, Section, Shown, Table};
use crate::model::{Content, Reports, System};
use crate::sections::cells::{by_clients, client_columns};
use crate::wording::number::{self, counted};
use crate::wording::phrases;
use crate::wording::words;

/// Largest number of interactions that a sentence names for a step.
const INTERACTIONS_MAX: usize = 5;

/// The section, with a table for each step: a row for each system, a column for each client count. `None` without a
/// sweep.
pub(crate) fn configurations(reports: &Reports) -> Option<Section> {
    let tables: Vec<Table> = (0..reports.absolute.rows.len()).filter_map(|row| rates(reports, row)).collect();
    let has_sweep = reports.systems.iter().any(|system| system.configuration.is_some());
    (has_sweep && !tables.is_empty()).then(|| Section {
        title: "Configurations: operations per second by number of clients".to_owned(),
        paragraphs: vec![format!(
            "Median of the rounds; a sign is the verdict against {} at the same number of clients.",
            phrases::base_id(reports)
        )],
        tables,
        ..Section::default()
    })
}

/// The table of a step. `None` if the step has no measured cell.
fn rates(reports: &Reports, row: usize) -> Option<Table> {
    let (rates, relative) = (&reports.absolute.rows[row], &reports.relative.rows[row]);
    let cell = |system: &System, clients: u32| {
        let here = |cell_clients: u32, cell_system: &str| cell_clients == clients && cell_system == system.id;
        let rate = rates.cells.iter().find(|cell| here(cell.clients, &cell.system));
        let shown = match rate.map(|cell| &cell.content) {
            Some(Content::Measured(rate)) => Shown::plain(number::three_digits(rate.operations_per_second)),
            Some(Content::Failed) => Shown::plain("failed"),
            _ => Shown::plain("–"),
        };
        let judged = relative.cells.iter().find(|cell| here(cell.clients, &cell.system));
        match judged.and_then(|cell| cell.value()?.finding) {
            Some(finding) => with_finding(shown, finding),
            None => shown,
        }
    };
    rates.cells.iter().any(|cell| cell.value().is_some()).then(|| by_clients(reports, rates, cell))
}

fn with_finding(shown: Shown, finding: Finding) -> Shown {
    Shown { tint: words::tint(finding), note: format!(" {}", words::mark(finding)), ..shown }
}

/// The section on the effect of each factor of a sweep, by step. `None` if no effect can be estimated.
pub(crate) fn sensitivity(reports: &Reports) -> Option<Section> {
    (!reports.sensitivity.is_empty()).then(|| Section {
        title: "Sensitivity: what each setting does".to_owned(),
        paragraphs: vec![
            "Throughput at a level as a multiple of that at the first level, with the other settings unchanged. In \
             brackets: 95% interval over rounds. Best: the level with the highest throughput; ? if another may be as good."
                .to_owned(),
        ],
        items: reports.sensitivity.iter().flat_map(sentences).collect(),
        tables: reports.sensitivity.iter().map(table).collect(),
        ..Section::default()
    })
}

fn table(of: &Sensitivity) -> Table {
    let clients: Vec<u32> = of.factors[0].best.iter().map(|best| best.clients).collect();
    let mut lines = Vec::new();
    for factor in &of.factors {
        lines.push(Line::group(format!("{} (against {})", factor.factor, factor.reference)));
        lines.extend(factor.levels.iter().map(|level| {
            let cells = at_clients(&clients, &level.effects, |effect| effect.clients, effect);
            Line::of(&level.level, cells)
        }));
        lines.push(Line::of("best", at_clients(&clients, &factor.best, |best| best.clients, best)));
    }
    let title = format!(
        "{} in {}: {} of {}",
        of.sweep,
        of.step,
        of.configurations,
        counted(of.combinations as u64, "combination")
    );
    Table::of(title, client_columns(&clients), lines)
}

fn at_clients<T>(
    clients: &[u32],
    items: &[T],
    clients_of: impl Fn(&T) -> u32,
    show: impl Fn(&T) -> Shown,
) -> Vec<Shown> {
    let cell =
        |wanted: &u32| items.iter().find(|item| clients_of(item) == *wanted).map_or(Shown::plain("–"), &show);
    clients.iter().map(cell).collect()
}

fn effect(effect: &Effect) -> Shown {
    with_finding(Shown::plain(words::ratio_in(effect.ratio, effect.interval)), effect.finding)
}

fn best(best: &BestLevel) -> Shown {
    Shown {
        note: if best.is_decided { String::new() } else { " ?".to_owned() },
        ..Shown::plain(best.level.clone())
    }
}

fn sentences(of: &Sensitivity) -> Vec<String> {
    let place = format!("{} in {}", of.sweep, of.step);
    let turns = of.factors.iter().filter_map(|factor| Some(format!("{place}: {}", turn(factor)?)));
    let mut sentences: Vec<String> = turns.collect();
    let decided = |it: &&Interaction| matches!(it.effect.finding, Finding::Improved | Finding::Regressed);
    let interactions: Vec<&Interaction> = of.interactions.iter().filter(decided).collect();
    sentences
        .extend(interactions.iter().take(INTERACTIONS_MAX).map(|it| format!("{place}: {}", interaction(it))));
    let more = interactions.len().saturating_sub(INTERACTIONS_MAX);
    if more > 0 {
        sentences.push(format!("{place}: {} more.", counted(more as u64, "interaction")));
    }
    if of.factors.len() > 1 && interactions.is_empty() {
        sentences.push(if of.interactions.is_empty() {
            format!("{place}: these configurations do not show whether settings interact.")
        } else {
            format!("{place}: no interaction of settings was found.")
        });
    }
    sentences
}

fn turn(factor: &FactorSensitivity) -> Option<String> {
    let turn = factor.turns.as_ref()?;
    Some(format!(
        "the best {} depends on the number of clients: {} is better than {} at {}, and worse at {}.",
        factor.factor,
        turn.level,
        turn.other_level,
        counted(u64::from(turn.clients), "client"),
        turn.other_clients,
    ))
}

fn interaction(of: &Interaction) -> String {
    format!(
        "{} {} and {} {} together give {} times the product of their separate effects, at {}.",
        of.factors[0],
        of.levels[0],
        of.factors[1],
        of.levels[1],
        words::ratio_in(of.effect.ratio, of.effect.interval),
        counted(u64::from(of.effect.clients), "client"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::assert_golden;
    use crate::sample::{self, reports};
    use crate::{Format, RenderOptions, render};

    #[test]
    fn a_run_without_a_sweep_has_neither_section() {
        let reports = reports(&sample::run(6));
        assert!(configurations(&reports).is_none() && sensitivity(&reports).is_none());
    }

    #[test]
    fn a_sweep_reads_as_people_expect() {
        let options = RenderOptions { color: false, width: 100 };
        let text = render(&reports(&sample::swept_run()), Format::Text, &options);
        let start = text.find("Configurations: ").unwrap();
        let (end, _) = text[start..].match_indices("\n\n\n").nth(1).unwrap();
        let end = start + end;
        assert_golden("sweep.txt", &text[start..end]);
    }

    #[test]
    fn a_control_is_not_in_the_sweep_of_its_base() {
        let mut run = sample::swept_run();
        let base = run.systems[0].clone();
        run.systems[4].configuration = base.configuration;
        run.systems[4].control_of = Some(base.id);
        let options = RenderOptions { color: false, width: 100 };
        let text = render(&reports(&run), Format::Text, &options);
        assert!(text.contains("others\n  mysql84 "), "{text}");
    }
}

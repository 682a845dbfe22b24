//! Builds reports from a run and its analysis.

pub(crate) mod capacities;
pub(crate) mod checks;
pub(crate) mod counters;
pub(crate) mod disk;
pub(crate) mod drivers;
pub(crate) mod evidence;
pub(crate) mod footnotes;
pub(crate) mod grid;
pub(crate) mod header;
pub(crate) mod repeated;
mod why;

use dyno_judge::{Analysis, TrialChecks, query_plans, stack_summaries};
use dyno_store::Run;

use crate::build::capacities::capacities;
use crate::build::checks::{checked_trials, trial_warnings, variation};
use crate::build::counters::chosen_counters;
use crate::build::disk::disk_rows;
use crate::build::drivers::driver_loads;
use crate::build::footnotes::Footnotes;
use crate::build::grid::{CellInput, Grid, Ratios};
use crate::build::header::{header, systems};
use crate::build::repeated::repeated;
use crate::html::grave;
use crate::model::claims::claims;
use crate::model::{Content, Cost, CostValue, Costs, Rate, Relative, Reports, RoundRate, VerdictCounts};
use crate::wording::number;
use crate::wording::summary::summary;

/// Builds the reports on a run against the plan's base. The run need not be finished. `analysis` is the result of
/// `dyno_judge::analyse` for the run and for `checks`. [`Reports::why`] stays empty, because its data is not in the
/// run.
pub fn reports(run: &Run, checks: &TrialChecks, analysis: &Analysis) -> Reports {
    let base = run.systems.iter().find(|system| system.is_base).map_or("", |base| &base.id);
    Reports { claims: claims(run, checks), ..against(base, run, checks, analysis) }
}

/// Builds the reports with any system as the base. These reports have no claims, because claims do not depend on the
/// base.
pub(crate) fn against(base: &str, run: &Run, checks: &TrialChecks, analysis: &Analysis) -> Reports {
    let footnotes = Footnotes::of(run);
    let grid = Grid::new(run, analysis, &footnotes);
    let ratios = Ratios::against(base, analysis);
    let trial_checks = checked_trials(run, checks);
    let judgement = analysis.judgement(base);
    let comparisons = judgement.map_or(&[][..], |judgement| &judgement.comparisons);
    Reports {
        run: header(run),
        client_counts: grid.client_counts().to_vec(),
        not_in_force: analysis.not_in_force.clone(),
        not_comparable: grave(run),
        summary: comparisons.iter().map(|comparison| summary(comparison, &analysis.rule)).collect(),
        evidence: evidence::sentences(run, analysis),
        replication: analysis.replication.clone(),
        allocation: run.allocation,
        rule: analysis.rule.clone(),
        verdicts: comparisons.iter().map(VerdictCounts::of).collect(),
        absolute: grid.matrix(absolute),
        relative: grid.matrix(|place| relative(place, base, &ratios)),
        repeated: repeated(run, &grid, &analysis.rule),
        efficiency: grid.matrix(|place| {
            let of_base = grid.found(&place.step.id, place.clients, base);
            Content::Measured(costs(place, of_base, &ratios))
        }),
        capacities: capacities(run),
        disk: disk_rows(run),
        crash_tests: run.crash_tests.clone(),
        variation: variation(run, &trial_checks),
        trial_warnings: trial_warnings(run, &trial_checks, &grid, &ratios),
        trial_checks,
        sensitivity: analysis.sensitivity.clone(),
        stacks: stack_summaries(run),
        joined: analysis.joined.clone(),
        events: analysis.events.clone(),
        lags: analysis.lags.clone(),
        replays: analysis.replays.clone(),
        ladders: analysis.ladders.clone(),
        hosts: analysis.hosts.clone(),
        drivers: driver_loads(run),
        counters: chosen_counters(run, analysis),
        query_plans: query_plans(run),
        why: Vec::new(),
        frontiers: analysis.frontiers.clone(),
        systems: systems(run, base),
        claims: Vec::new(),
        footnotes: footnotes.into_list(),
    }
}

fn absolute(place: CellInput<'_>) -> Content<Rate> {
    let rounds = place.found.rounds.iter();
    Content::Measured(Rate {
        operations_per_second: place.rate,
        rounds: rounds
            .map(|value| RoundRate { round: value.round, operations_per_second: value.value })
            .collect(),
        steady_state: place.found.steady_state,
        warnings: place.found.warnings.clone(),
    })
}

fn relative(place: CellInput<'_>, base: &str, ratios: &Ratios<'_>) -> Content<Relative> {
    if place.found.system == base {
        // If the base's rate is 0, no rate is a multiple of it.
        let is_base = place.rate > 0.0;
        return if is_base { Content::Measured(Relative::of_base()) } else { Content::Incomparable };
    }
    ratios.at(place).and_then(Relative::of).map_or(Content::Incomparable, Content::Measured)
}

fn costs(place: CellInput<'_>, of_base: Option<&dyno_judge::Cell>, ratios: &Ratios<'_>) -> Costs {
    let value = |cost: Cost| {
        let figure = place.found.costs.get(&cost.quantity())?;
        let relative = ratios.at(place).and_then(|test| test.costs.get(&cost.quantity())).copied();
        let beside = of_base.and_then(|cell| cell.costs.get(&cost.quantity()));
        let is_quotient = relative.zip(beside).is_none_or(|(relative, beside)| {
            number::is_quotient(beside.median, figure.median, relative.ratio)
        });
        Some(CostValue { median: figure.median, rounds: figure.rounds.clone(), relative, is_quotient })
    };
    Costs(Cost::ALL.into_iter().map(|cost| (cost, value(cost))).collect())
}

#[cfg(test)]
mod tests;

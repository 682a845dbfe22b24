//! From a run to its reports.

use dyno_judge::{TrialChecks, throughput};
use dyno_stats::{PairedRatio, median, paired_ratio};
use dyno_store::{Run, TrialRecord};

use crate::checks::{checked_trials, doubts, variation};
use crate::claims::claims;
use crate::costs::costs;
use crate::disk::disk_rows;
use crate::footnotes::Footnotes;
use crate::grid::{Grid, pairs};
use crate::header::{header, systems};
use crate::model::{Content, Rate, Reports, TrialRate};
use crate::summary::summary;

/// Makes the reports on a run, finished or not, from the trials that it has and the checks of them.
pub fn reports(run: &Run, checks: &TrialChecks) -> Reports {
    Reports { claims: claims(run, checks), ..without_claims(run, checks) }
}

/// The reports without what does not depend on the base: claims name their systems.
pub(crate) fn without_claims(run: &Run, checks: &TrialChecks) -> Reports {
    let footnotes = Footnotes::of(run);
    let grid = Grid::new(run, &footnotes);
    let systems = systems(run);
    let ratios = grid.matrix(relative);
    let trial_checks = checked_trials(run, checks);
    Reports {
        run: header(run),
        client_counts: grid.client_counts().to_vec(),
        summary: summary(&systems, &ratios),
        absolute: grid.matrix(|_, own| absolute(own)),
        relative: ratios,
        repeated: grid.repeated(relative),
        efficiency: grid.matrix(|base, own| Content::Measured(costs(base, own))),
        disk: disk_rows(run),
        variation: variation(run, &trial_checks),
        doubts: doubts(run, &trial_checks),
        trial_checks,
        systems,
        claims: Vec::new(),
        footnotes: footnotes.into_list(),
    }
}

fn absolute(own: &[&TrialRecord]) -> Content<Rate> {
    let trial_rate =
        |trial: &&TrialRecord| TrialRate { trial: trial.trial, operations_per_second: rate(trial) };
    let trials: Vec<TrialRate> = own.iter().map(trial_rate).collect();
    let rates: Vec<f64> = trials.iter().map(|trial| trial.operations_per_second).collect();
    median(&rates).map_or(Content::Missing, |operations_per_second| {
        Content::Measured(Rate { operations_per_second, trials })
    })
}

fn relative(base: &[&TrialRecord], own: &[&TrialRecord]) -> Content<PairedRatio> {
    let (base, own): (Vec<f64>, Vec<f64>) =
        pairs(base, own).map(|(base, own)| (throughput(base), throughput(own))).unzip();
    paired_ratio(&base, &own).map_or(Content::Incomparable, Content::Measured)
}

/// Operations per second of a trial; 0 if nothing was measured.
fn rate(trial: &TrialRecord) -> f64 {
    trial.measured.as_ref().map_or(0.0, |measured| measured.counts.operations as f64 / measured.seconds)
}

#[cfg(test)]
mod tests;

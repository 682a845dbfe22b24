//! From a run to its reports.

use dyno_stats::{median, paired_ratio};
use dyno_store::{Run, TrialRecord};

use crate::costs::costs;
use crate::disk::disk_rows;
use crate::footnotes::Footnotes;
use crate::grid::{Grid, pairs};
use crate::header::{header, systems};
use crate::model::{Content, Rate, Reports};
use crate::summary::summary;

/// Makes the reports on a run, finished or not, from the trials that it has.
pub fn reports(run: &Run) -> Reports {
    let footnotes = Footnotes::of(run);
    let grid = Grid::new(run, &footnotes);
    let relative = grid.matrix(|base, own| {
        let (base, own) =
            pairs(base, own).map(|(base, own)| (rate(base), rate(own))).unzip::<_, _, Vec<_>, Vec<_>>();
        paired_ratio(&base, &own).map_or(Content::Incomparable, Content::Measured)
    });
    let systems = systems(run);
    Reports {
        run: header(run),
        summary: summary(&systems, &relative),
        client_counts: grid.client_counts().to_vec(),
        absolute: grid.matrix(|_, own| {
            let trials_operations_per_second: Vec<f64> = own.iter().map(|trial| rate(trial)).collect();
            match median(&trials_operations_per_second) {
                Some(operations_per_second) => {
                    Content::Measured(Rate { operations_per_second, trials_operations_per_second })
                }
                None => Content::Missing,
            }
        }),
        relative,
        efficiency: grid.matrix(|base, own| Content::Measured(costs(base, own))),
        disk: disk_rows(run),
        footnotes: footnotes.into_list(),
        systems,
    }
}

/// Operations per second of a trial; 0 if nothing was measured.
fn rate(trial: &TrialRecord) -> f64 {
    trial.measured.as_ref().map_or(0.0, |measured| measured.counts.operations as f64 / measured.seconds)
}

//! Suggests the next commands after the summary of a run.

use std::path::Path;

use dyno_judge::Finding;
use dyno_printable::quote;
use dyno_report::{NextStep, Reports};
use dyno_store::RunId;

use crate::options::ResultsFile;

/// The command that prints the full report.
pub(super) fn full_report(results: &ResultsFile, run: RunId) -> String {
    format!("dyno report {run} --full{}", option(results))
}

/// Suggests how to see more of a run. `page` is its HTML report, if one was written.
pub(super) fn steps(
    results: &ResultsFile,
    run: RunId,
    reports: &Reports,
    page: Option<&Path>,
) -> Vec<NextStep> {
    let option = option(results);
    let page = match page {
        Some(path) => {
            NextStep::new(path.display().to_string(), "for a browser: charts, and each test in detail")
        }
        None => NextStep::new(format!("dyno report {run} --format html{option}"), "a page for a browser"),
    };
    let full = NextStep::new(full_report(results, run), "all tables: rates, costs, causes, checks");
    let mut relatives =
        reports.relative.rows.iter().flat_map(|row| &row.cells).filter_map(|cell| cell.value());
    let is_decided = relatives.any(|it| matches!(it.finding, Some(Finding::Improved | Finding::Regressed)));
    let explain =
        is_decided.then(|| NextStep::new(format!("dyno explain {run}{option}"), "why the systems differ"));
    [Some(page), Some(full), explain].into_iter().flatten().collect()
}

/// Suggests how to see what differs between the two systems of a run, and how to prove which settings cause it.
pub(super) fn proof(results: &ResultsFile, run: RunId) -> String {
    let explain = format!("dyno explain {run}{}", option(results));
    format!(
        "`{explain}` shows what changed between the two, and with --prove which settings make the difference"
    )
}

/// The option that names the results file, or an empty text for the default file.
fn option(results: &ResultsFile) -> String {
    if results.is_default() {
        return String::new();
    }
    format!(" --results {}", quote(&results.path.display().to_string()))
}

//! Writes the report of a run as an HTML file.

use std::path::{Path, PathBuf};

use dyno_export::plain_name;
use dyno_judge::{Analysis, Rule, analyse};
use dyno_report::{Details, PageInput, Reasons, render_html};
use dyno_search::explain::reasons;
use dyno_store::{Run, Store};

use crate::{findings, output};

/// Renders the HTML page of a run. The page of a run in progress is live. It is rendered again after each trial,
/// and omits the explanations of differences.
pub(crate) fn render(store: &Store, results: &Path, run: &Run, is_live: bool) -> anyhow::Result<String> {
    let details = Details::load(store, run)?;
    let analysis = analyse(run, &details.checks, &Rule::default());
    let reasons = if is_live { Reasons::default() } else { reasons(store, results, run, &analysis)? };
    Ok(of_details(run, &details, &analysis, &reasons, is_live))
}

/// Renders the HTML page of a run whose details and analysis the caller has.
pub(crate) fn of_details(
    run: &Run,
    details: &Details,
    analysis: &Analysis,
    reasons: &Reasons,
    is_live: bool,
) -> String {
    let curves = findings::curves(run);
    render_html(&PageInput { run, analysis, details, curves: &curves, reasons, is_live })
}

/// Writes a page to a file.
pub(crate) fn write(page: &str, path: &Path) -> anyhow::Result<()> {
    output::write(path, page)
}

/// `PLAN-RUN.html` in the folder of the results file. Characters that are unsuitable for file names are
/// replaced.
pub(crate) fn default_path(results: &Path, run: &Run) -> PathBuf {
    results.with_file_name(format!("{}-{}.html", plain_name(&run.record.plan_name), run.id))
}

#[cfg(test)]
mod tests {
    use dyno_store::{RunId, RunRecord, RunState};

    use super::*;

    #[test]
    fn the_file_stands_beside_the_results_whatever_the_plan_is_called() {
        let run = |plan_name: &str| {
            Run::new(
                RunId(3),
                RunRecord { plan_name: plan_name.to_owned(), ..RunRecord::default() },
                RunState::Killed,
            )
        };
        let path = |plan: &str| default_path(Path::new("of/mine.db"), &run(plan));
        assert_eq!(path("first-look"), Path::new("of/first-look-3.html"));
        assert_eq!(path("../a b/c"), Path::new("of/a-b-c-3.html"));
    }
}

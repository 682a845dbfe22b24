//! The pages: the list of runs, and the report of each run.

use std::path::Path;

use dyno_report::simple_page;
use dyno_store::{Run, RunChoice, RunId, RunState, RunSummary, Store, StoreError, utc_text};
use maud::{Markup, html};

use crate::answer::Answer;
use crate::metrics::Metrics;
use crate::route::Route;

/// An error of any kind.
pub(crate) type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// Renders the report of a run as a page. The boolean argument says whether the run is in progress.
pub type Render = Box<dyn Fn(&Store, &Run, bool) -> Result<String, AnyError> + Send>;

/// Renders pages. The latest report is cached until its run changes.
pub(crate) struct Pages<'a> {
    results: &'a Path,
    render: &'a Render,
    kept: Option<(RunSummary, String)>,
    metrics: Metrics<'a>,
}

impl<'a> Pages<'a> {
    pub(crate) fn new(results: &'a Path, render: &'a Render) -> Self {
        Self { results, render, kept: None, metrics: Metrics::new(results) }
    }

    /// The page at a route.
    ///
    /// # Errors
    /// The results file cannot be read, or has no such run. Or the report cannot be rendered.
    pub(crate) fn page(&mut self, route: Route) -> Result<Answer, AnyError> {
        match route {
            Route::Run(id) => Ok(Answer::html(200, self.run(id)?)),
            Route::Metrics => Ok(Answer::metrics(self.metrics.text()?)),
            Route::List | Route::Events => Ok(Answer::html(200, self.list()?)),
        }
    }

    /// Removes the report from the cache.
    pub(crate) fn forget(&mut self) {
        self.kept = None;
    }

    /// The list of runs, newest first.
    fn list(&self) -> Result<String, StoreError> {
        let runs = match Store::open_read_only(self.results) {
            Ok(store) => store.runs()?,
            Err(StoreError::Empty { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        let name = self.results.display().to_string();
        Ok(simple_page(
            "Runs",
            &html! {
                div.title { h1 { "Runs" } p.lead { code { (name) } } }
                main { section { @if runs.is_empty() { p { "No run yet. " code { "dyno run PLAN" } " makes one." } } @else { (table(&runs)) } } }
            },
        ))
    }

    /// The report of a run, with live updates if the run is in progress.
    fn run(&mut self, id: RunId) -> Result<String, AnyError> {
        let store = Store::open_read_only(self.results)?;
        let Some(summary) = store.runs()?.into_iter().find(|run| run.id == id) else {
            return Err(store.no_such_run(id)?.into());
        };
        if let Some((of, page)) = &self.kept
            && summary == *of
        {
            return Ok(page.clone());
        }
        let run = store.load_run(RunChoice::Id(id))?;
        let page = (self.render)(&store, &run, run.state == RunState::Running)?;
        self.kept = Some((summary, page.clone()));
        Ok(page)
    }
}

fn table(runs: &[RunSummary]) -> Markup {
    html! {
        table.list {
            caption.hidden-text { "Runs in the results file, the latest first" }
            thead { tr {
                th scope="col" { "run" } th scope="col" { "plan" } th scope="col" { "started" } th scope="col" { "state" }
                th.num scope="col" { "trials" } th.num scope="col" { "failed" }
            } }
            tbody { @for run in runs.iter().rev() { tr {
                td { a href={ "/run/" (run.id) } { (run.id) } }
                th scope="row" { a href={ "/run/" (run.id) } { (run.plan_name) } }
                td { (started(run)) }
                td { span class={ "badge " (run.state.as_str()) } { (run.state.as_str()) } }
                td.num { (run.completed_trials) }
                td.num { (run.failed_trials) }
            } } }
        }
    }
}

fn started(run: &RunSummary) -> String {
    utc_text(run.started_at_ms).replace('T', " ").replace('Z', " UTC")
}

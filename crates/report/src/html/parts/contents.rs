//! The data that all parts of a page share.

use std::collections::HashSet;

use dyno_judge::{CellWarning, TrialChecks};

use crate::build::{against, reports};
use crate::html::PageInput;
use crate::model::{Cost, Reports};
use crate::sections::efficiency;

/// A run with its reports, for all parts of the page.
pub(crate) struct Page<'a> {
    pub(crate) input: PageInput<'a>,
    /// The reports against the plan's base.
    pub(crate) reports: Reports,
    /// The reports against each of the systems as the base, in the plan's order.
    pub(crate) by_base: Vec<Reports>,
    /// Costs that have a table.
    pub(crate) costs: Vec<Cost>,
    /// The step, client count and system of each cell in which the system did not reach the step's rate.
    unsustained: HashSet<(&'a str, u32, &'a str)>,
}

impl<'a> Page<'a> {
    pub(crate) fn new(input: PageInput<'a>) -> Self {
        let own = Reports {
            why: input.reasons.why.clone(),
            ..reports(input.run, &input.details.checks, input.analysis)
        };
        let costs = efficiency::shown_costs(&own);
        let cells =
            input.analysis.tests.iter().flat_map(|test| test.cells.iter().map(move |cell| (test, cell)));
        let unsustained = cells
            .filter(|(_, cell)| {
                cell.warnings.iter().any(|warning| matches!(warning, CellWarning::NotSustained { .. }))
            })
            .map(|(test, cell)| (test.step.as_str(), test.clients, cell.system.as_str()))
            .collect();
        Self { input, by_base: by_base(&input, &own), costs, unsustained, reports: own }
    }

    pub(crate) fn columns(&self) -> usize {
        self.reports.client_counts.len() * self.reports.systems.len()
    }

    /// Whether the step sets a rate that the system did not reach.
    pub(crate) fn is_unsustained(&self, step: &str, clients: u32, system: &str) -> bool {
        self.unsustained.contains(&(step, clients, system))
    }
}

/// The reports against each system as the base. Checks of trials do not depend on the base, so only the reports
/// against the plan's base have them.
fn by_base(input: &PageInput<'_>, own: &Reports) -> Vec<Reports> {
    let against = |system: &dyno_store::SystemRecord| {
        if system.is_base {
            return own.clone();
        }
        against(&system.id, input.run, &TrialChecks::new(), input.analysis)
    };
    input.run.systems.iter().map(against).collect()
}

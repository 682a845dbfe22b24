//! The data for the page's script.

use std::collections::BTreeMap;

use dyno_store::Run;
use maud::{Markup, PreEscaped, html};
use serde_json::json;

use crate::html::drill_down::cells::{Budget, step_cells};
use crate::html::drill_down::pack;
use crate::html::parts::contents::Page;
use crate::html::parts::views::BaseViews;
use crate::sections::efficiency;
use crate::wording::phrases;

/// The client count that a narrow page shows first, which is the count with the most tests. If several counts have the
/// most tests, it is the highest of them.
fn clients_of_most_tests(run: &Run) -> Option<u32> {
    let counts = run.steps.iter().flat_map(|step| step.clients.iter().copied());
    let mut tests: BTreeMap<u32, usize> = BTreeMap::new();
    for clients in counts {
        *tests.entry(clients).or_default() += 1;
    }
    tests.into_iter().max_by_key(|(clients, tests)| (*tests, *clients)).map(|(clients, _)| clients)
}

/// The data of the page: the matrices against every base, and one block of cells for each step.
pub(crate) fn scripts(page: &Page<'_>) -> Markup {
    let run = page.input.run;
    let steps: Vec<_> = run
        .steps
        .iter()
        .map(|step| json!({ "id": step.id, "group": step.group, "operation": step.operation.as_str() }))
        .collect();
    let model = json!({
        "run": run.id.0,
        "plan": run.record.plan_name,
        "systems": run.systems.iter().map(|system| &system.id).collect::<Vec<_>>(),
        "base": phrases::base_id(&page.reports),
        "clients": page.reports.client_counts,
        "clientsOfMostTests": clients_of_most_tests(run),
        "steps": steps,
        "costs": page.costs.iter().map(|cost| efficiency::title(*cost)).collect::<Vec<_>>(),
        "thinned": page.input.details.is_thinned,
    });
    let views: Vec<BaseViews> =
        page.by_base.iter().map(|reports| BaseViews::of(reports, &page.costs)).collect();
    let budget = Budget::of(run, page.input.details);
    html! {
        script #model type="application/json" { (PreEscaped(pack::json(&model))) }
        script #views type="text/plain" { (PreEscaped(pack::packed(&views))) }
        @for (at, step) in run.steps.iter().enumerate() {
            @let cells = step_cells(&page.input, step, &page.reports.client_counts, budget);
            script #{ "cells-" (at) } type="text/plain" { (PreEscaped(pack::packed(&cells))) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_page_begins_where_most_tests_are() {
        let mut run = sample::run(1);
        assert_eq!(clients_of_most_tests(&run), Some(4));
        for step in run.steps.iter_mut().skip(1) {
            step.clients = vec![1];
        }
        assert_eq!(clients_of_most_tests(&run), Some(1));
    }
}

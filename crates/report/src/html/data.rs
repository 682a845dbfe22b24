//! The data that a page carries for its script.

use maud::{Markup, PreEscaped, html};
use serde_json::json;

use super::cells::{Budget, step_cells};
use super::pack;
use super::page::Page;
use super::views::BaseViews;
use crate::cost_tables;
use crate::phrases;

/// What the page is about, its matrices against every base, and the cells of each step, a block each.
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
        "steps": steps,
        "costs": page.costs.iter().map(|cost| cost_tables::title(*cost)).collect::<Vec<_>>(),
        "thinned": page.input.details.is_thinned,
    });
    let views: Vec<BaseViews> =
        page.by_base.iter().map(|reports| BaseViews::of(reports, &page.costs)).collect();
    let budget = Budget::of(run, page.input.details);
    html! {
        script #model type="application/json" { (PreEscaped(pack::json(&model))) }
        script #views type="text/plain" { (PreEscaped(pack::packed(&views))) }
        @for (at, step) in run.steps.iter().enumerate() {
            @let cells = step_cells(run, step, &page.reports.client_counts, page.input.details, budget);
            script #{ "cells-" (at) } type="text/plain" { (PreEscaped(pack::packed(&cells))) }
        }
    }
}

//! Flame graphs of servers, and of the differences between the base and each other system.

use dyno_judge::{FlameNode, FlameThreads, StackSummary, flame, flame_difference, stacks_of};
use dyno_store::{Run, StackProfile};
use maud::{Markup, html};

use crate::chart::FlameGraph;
use crate::model::Reports;
use crate::wording::number::{self, counted};
use crate::wording::phrases;

/// For each strength of the tint, the smallest change that has it. Changes are differences in a function's
/// thread-seconds per operation, as shares of the thread-seconds of all functions.
const TINT_STEPS: [f64; 5] = [0.005, 0.02, 0.05, 0.1, 0.25];

/// The section with the flame graphs. Empty if no stacks were sampled.
pub(crate) fn section(run: &Run, reports: &Reports) -> Markup {
    let same_test = |a: &StackSummary, b: &StackSummary| (&a.step, a.clients) == (&b.step, b.clients);
    html! {
        @if !reports.stacks.is_empty() {
            section #flames {
                h2 { "Flame graphs" }
                p.how {
                    "A bar is a function, above its caller. Its width is the share of threads in it. "
                    "Threads that wait for their client are left out. A difference is in thread-seconds per operation; "
                    "blue: less than the base, orange: more. The name and the figures of a bar are shown when the pointer is on it."
                }
                @for of_test in reports.stacks.chunk_by(same_test) { (test(run, of_test, phrases::base_id(reports))) }
            }
        }
    }
}

fn test(run: &Run, of_test: &[StackSummary], base: &str) -> Markup {
    let stacks = |system: &str| stacks_of(run, &of_test[0].step, of_test[0].clients, system);
    html! {
        h3 { (of_test[0].step) " at " (counted(u64::from(of_test[0].clients), "client")) }
        @for of in of_test {
            @if let Some(own) = stacks(&of.system) {
                details {
                    summary { (of.system) }
                    (graph(&of.system, "connection threads", own, FlameThreads::Connections))
                    (graph(&of.system, "other threads", own, FlameThreads::Background))
                }
                @if of.system != base && let Some(of_base) = stacks(base) {
                    (difference((base, of_base), (&of.system, own)))
                }
            }
        }
    }
}

fn graph(system: &str, what: &str, stacks: &StackProfile, threads: FlameThreads) -> Markup {
    let tree = flame(stacks, threads);
    let says = |node: &FlameNode| {
        format!(
            "{}, {} threads",
            number::percent(node.weight / tree.weight),
            number::three_digits(node.weight)
        )
    };
    let graph = FlameGraph {
        title: format!("{system}: functions of {what}"),
        root: what,
        weight: |node| node.weight,
        class: &|node| if node.function.starts_with('[') { "unnamed" } else { "frame" }.to_owned(),
        says: &says,
    };
    figure(&format!("{system}: {what}"), graph, &tree)
}

/// Two flame graphs of the difference between two systems. The widths of bars are the candidate's times in the first
/// graph, and the base's times in the second. So a function that only one system calls is visible in one of the graphs.
fn difference(base: (&str, &StackProfile), candidate: (&str, &StackProfile)) -> Markup {
    let Some(tree) = flame_difference(base.1, candidate.1, FlameThreads::Connections) else {
        return html! {};
    };
    let says = |node: &FlameNode| {
        let (own, before) = (time(node.weight), time(node.base));
        format!("{own} for an operation of {}, {before} of {}", candidate.0, base.0)
    };
    let class = |node: &FlameNode| format!("tint{}", tint(node, &tree));
    let graph = |system: &str, weight: fn(&FlameNode) -> f64| {
        let title = format!("{} against {}: widths of {system}", candidate.0, base.0);
        let graph = FlameGraph { title, root: "connection threads", weight, class: &class, says: &says };
        figure(&format!("widths: thread-seconds for an operation of {system}"), graph, &tree)
    };
    html! {
        details {
            summary { (candidate.0) " against " (base.0) ": " (time(tree.weight)) " of threads for an operation, " (time(tree.base)) " in " (base.0) }
            (graph(candidate.0, |node| node.weight))
            (graph(base.0, |node| node.base))
        }
    }
}

fn figure(caption: &str, graph: FlameGraph<'_>, tree: &FlameNode) -> Markup {
    html! {
        @if let Some(chart) = graph.draw(tree) {
            figure.flame { figcaption { (caption) } (chart.inline()) }
        }
    }
}

/// The tint of a function: from −5 (takes much more time than in the base) to 5 (takes much less time).
fn tint(node: &FlameNode, tree: &FlameNode) -> i8 {
    let saved = (node.base - node.weight) / tree.base.max(tree.weight);
    let strength = TINT_STEPS.iter().filter(|step| saved.abs() >= **step).count() as i8;
    if saved < 0.0 { -strength } else { strength }
}

fn time(seconds: f64) -> String {
    format!("{} µs", number::three_digits(seconds * 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn a_page_has_a_graph_for_each_system_and_both_directions_of_each_difference() {
        let run = sample::eventful_run();
        let page = section(&run, &reports(&run)).into_string();
        assert_eq!(page.matches("<details>").count(), 3 + 2, "{page}");
        assert_eq!(page.matches("figure class=\"flame\"").count(), 3 * 2 + 2 * 2);
        // The base waits for free blocks. The other systems do not.
        assert!(page.contains("buf_LRU_get_free_block: 0 µs for an operation of maria, "), "{page}");
        assert!(page.contains("class=\"tint5\""));
        let without = sample::run(1);
        assert!(section(&without, &reports(&without)).into_string().is_empty());
    }

    #[test]
    fn less_is_better_and_strength_follows_the_change() {
        let tree = FlameNode { weight: 1.0, base: 2.0, ..FlameNode::default() };
        let of = |weight, base| tint(&FlameNode { weight, base, ..FlameNode::default() }, &tree);
        assert_eq!(
            [of(0.0, 0.0), of(0.0, 0.5), of(0.5, 0.0), of(0.1, 0.05), of(0.1, 0.099)],
            [0, 5, -5, -2, 0]
        );
    }
}

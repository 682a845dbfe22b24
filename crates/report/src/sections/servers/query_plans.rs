//! The servers' plans for queries, side by side where they differ.

use dyno_judge::QueryPlans;

use crate::document::{Listing, Section};
use crate::model::Reports;

/// The section; `None` if the run has no plans.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    let differing = |of_step: &&QueryPlans| of_step.plans.len() > 1;
    (!reports.query_plans.is_empty()).then(|| Section {
        title: "Plans of queries".to_owned(),
        paragraphs: vec![
            "The servers' own plans, read after a trial. Square brackets hold their estimates, which are not compared."
                .to_owned(),
        ],
        items: agreement(&reports.query_plans).into_iter().collect(),
        listings: reports.query_plans.iter().filter(differing).map(listing).collect(),
        ..Section::default()
    })
}

/// Names the steps for which all plans are the same. Systems without a plan do not count.
fn agreement(query_plans: &[QueryPlans]) -> Option<String> {
    let alike = query_plans.iter().filter(|of_step| of_step.plans.len() == 1);
    let steps: Vec<&str> = alike.map(|of_step| of_step.step.as_str()).collect();
    (!steps.is_empty())
        .then(|| format!("All systems with a plan have the same plan in {}.", steps.join(", ")))
}

fn listing(of_step: &QueryPlans) -> Listing {
    let texts = of_step.plans.iter().map(|plan| (plan.systems.join(", "), plan.plan.clone()));
    Listing { title: of_step.step.clone(), texts: texts.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::assert_golden;
    use crate::sample::{self, reports};

    #[test]
    fn plans_are_side_by_side_where_they_differ() {
        let reports = reports(&sample::queried_run());
        let section = section(&reports).unwrap();
        assert_eq!(section.items, ["All systems with a plan have the same plan in scan."]);
        let [listing] = &section.listings[..] else { panic!() };
        assert_eq!(listing.title, "q19");
        assert_eq!(listing.texts[1].0, "maria, myrocks");
        let options = crate::RenderOptions { color: false, width: 100 };
        let text = crate::render(&reports, crate::Format::Text, &options);
        let start = text.find(&section.title).unwrap();
        let end = text[start..].find("\n\n\n").map_or(text.len(), |at| start + at);
        assert_golden("query-plans.txt", &text[start..end]);
        let markdown = crate::render(&reports, crate::Format::Markdown, &options);
        assert!(markdown.contains("\n\nmaria, myrocks:\n\n```\n1 SIMPLE lineitem: ref"), "{markdown}");
        let page = crate::format::html::section(None, &section).into_string();
        assert_eq!(page.matches("<figure class=\"listing\">").count(), 2, "{page}");
    }

    #[test]
    fn a_run_without_plans_has_no_section() {
        assert!(section(&reports(&sample::run(3))).is_none());
    }
}

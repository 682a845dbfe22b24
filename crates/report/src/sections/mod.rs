//! The report of a run as a document: its head, and one list of sections for every format.

mod cells;
pub(crate) mod claims;
mod costs;
mod doubts;
mod servers;
mod throughput;
pub(crate) mod why;

use serde::Serialize;

use crate::document::{Document, Fact, Section};
use crate::format::{Report, json};
use crate::model::Reports;
use crate::wording::{in_force, phrases};

pub(crate) use cells::{cell_shown, relative_shown, table};
pub(crate) use costs::{efficiency, frontier};
pub(crate) use doubts::undecided;
pub(crate) use servers::crashes;
pub(crate) use throughput::{events, joins, matrices};

use costs::counters;
use doubts::{checks, steady_state};
use servers::{drivers, hosts, query_plans, stacks};
use throughput::{capacity, ladders, repeated, replicas, scaling, sweeps, traffic};

/// Version of the JSON format. It changes when a key is removed or changes its meaning, but not when a key is
/// added.
const FORMAT: u32 = 4;

/// A kind of section.
pub(crate) struct SectionKind {
    /// The id of the section's element in a page.
    pub(crate) id: &'static str,
    /// Makes the section; `None` if the run has nothing to show in it.
    pub(crate) of: fn(&Reports) -> Option<Section>,
}

/// All sections, in the order of every format. To add a section, write a new file that makes it, and add a line to this
/// list.
pub(crate) const SECTIONS: [SectionKind; 27] = [
    SectionKind { id: "why", of: why::section },
    SectionKind { id: "ladders", of: ladders::section },
    SectionKind { id: "absolute", of: |reports| Some(matrices::absolute(reports)) },
    SectionKind { id: "relative", of: |reports| Some(matrices::relative(reports)) },
    SectionKind { id: "efficiency", of: |reports| Some(efficiency::section(reports)) },
    SectionKind { id: "disk", of: matrices::disk },
    SectionKind { id: "capacity", of: capacity::section },
    SectionKind { id: "configurations", of: sweeps::configurations },
    SectionKind { id: "sensitivity", of: sweeps::sensitivity },
    SectionKind { id: "traffic", of: traffic::section },
    SectionKind { id: "joined", of: joins::section },
    SectionKind { id: "events", of: events::section },
    SectionKind { id: "replicas", of: replicas::section },
    SectionKind { id: "counters", of: counters::section },
    SectionKind { id: "crashes", of: crashes::section },
    SectionKind { id: "plans", of: query_plans::section },
    SectionKind { id: "repeated", of: repeated::section },
    SectionKind { id: "claims", of: claims::section },
    SectionKind { id: "scaling", of: scaling::section },
    SectionKind { id: "frontier", of: frontier::section },
    SectionKind { id: "stacks", of: stacks::section },
    SectionKind { id: "hosts", of: hosts::section },
    SectionKind { id: "drivers", of: drivers::section },
    SectionKind { id: "undecided", of: undecided::section },
    SectionKind { id: "steady-state", of: steady_state::section },
    SectionKind { id: "variation", of: checks::variation },
    SectionKind { id: "trial-warnings", of: checks::trial_warnings },
];

/// The sections on findings, without the sections on throughput, on costs of operations and on warnings.
pub(crate) fn findings(reports: &Reports) -> Vec<Section> {
    let found = [
        ladders::section(reports),
        matrices::disk(reports),
        capacity::section(reports),
        sweeps::configurations(reports),
        sweeps::sensitivity(reports),
        joins::section(reports),
        replicas::section(reports),
        counters::section(reports),
        crashes::section(reports),
        repeated::section(reports),
        frontier::section(reports),
        why::section(reports),
    ];
    found.into_iter().flatten().collect()
}

/// A document with the title and the summary of a run's report, and with the given facts and sections.
pub(crate) fn document(reports: &Reports, facts: Vec<Fact>, sections: Vec<Section>) -> Document {
    let mut paragraphs = in_force::sentences(&reports.not_in_force);
    paragraphs.extend(reports.not_comparable.iter().chain(&reports.summary).cloned());
    Document {
        title: phrases::title(&reports.run),
        facts,
        paragraphs,
        code: None,
        sections,
        notes: reports.footnotes.iter().map(phrases::footnote).collect(),
    }
}

impl Report for Reports {
    fn documents(&self) -> Vec<Document> {
        let sections = SECTIONS.iter().filter_map(|part| (part.of)(self)).collect();
        vec![document(self, facts(self), sections)]
    }

    fn json(&self) -> String {
        #[derive(Serialize)]
        struct Numbered<'a> {
            format: u32,
            #[serde(flatten)]
            reports: &'a Reports,
        }
        json::text(&Numbered { format: FORMAT, reports: self })
    }
}

/// Facts on the systems, the host, the run and its rounds.
pub(crate) fn facts(reports: &Reports) -> Vec<Fact> {
    let systems = reports.systems.iter().map(|system| Fact::new(&system.id, phrases::system(system)));
    let run = [Fact::new("host", phrases::host(&reports.run)), Fact::new("run", phrases::run(&reports.run))];
    let incomplete = phrases::incomplete(&reports.run).map(|incomplete| Fact::new("", incomplete));
    systems.chain(run).chain(incomplete).chain([Fact::new("rounds", reports.evidence.join(" "))]).collect()
}

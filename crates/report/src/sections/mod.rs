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

pub(crate) use cells::{cell_shown, relative_shown};
pub(crate) use costs::{efficiency, frontier, left_out};
pub(crate) use doubts::undecided;
pub(crate) use servers::crashes;
pub(crate) use throughput::joins;

use costs::counters;
use doubts::{checks, steady_state};
use servers::{drivers, hosts, query_plans, stacks};
use throughput::{capacity, ladders, matrices, repeated, scaling, sweeps};

/// Number of the JSON format. It changes when a key is removed or changes its meaning. New keys do not change it.
const FORMAT: u32 = 4;

/// A kind of section.
pub(crate) struct Part {
    /// The id of its element in a page.
    pub(crate) id: &'static str,
    /// None if the run has nothing for it.
    pub(crate) of: fn(&Reports) -> Option<Section>,
}

/// All sections in the order of every format. A new one is a file and a line here.
pub(crate) const PARTS: [Part; 25] = [
    Part { id: "why", of: why::section },
    Part { id: "ladders", of: ladders::section },
    Part { id: "absolute", of: matrices::absolute },
    Part { id: "relative", of: matrices::relative },
    Part { id: "efficiency", of: efficiency::section },
    Part { id: "disk", of: matrices::disk },
    Part { id: "capacity", of: capacity::section },
    Part { id: "configurations", of: sweeps::configurations },
    Part { id: "sensitivity", of: sweeps::sensitivity },
    Part { id: "joined", of: joins::section },
    Part { id: "counters", of: counters::section },
    Part { id: "crashes", of: crashes::section },
    Part { id: "plans", of: query_plans::section },
    Part { id: "repeated", of: repeated::section },
    Part { id: "claims", of: claims::section },
    Part { id: "scaling", of: scaling::section },
    Part { id: "frontier", of: frontier::section },
    Part { id: "stacks", of: stacks::section },
    Part { id: "left-out", of: left_out::of_run },
    Part { id: "hosts", of: hosts::section },
    Part { id: "drivers", of: drivers::section },
    Part { id: "undecided", of: undecided::section },
    Part { id: "steady-state", of: steady_state::section },
    Part { id: "variation", of: checks::variation },
    Part { id: "trial-warnings", of: checks::trial_warnings },
];

impl Report for Reports {
    fn documents(&self) -> Vec<Document> {
        let mut paragraphs = in_force::sentences(&self.not_in_force);
        paragraphs.extend(self.not_comparable.iter().chain(&self.summary).cloned());
        vec![Document {
            title: phrases::title(&self.run),
            facts: facts(self),
            paragraphs,
            code: None,
            sections: PARTS.iter().filter_map(|part| (part.of)(self)).collect(),
            notes: self.footnotes.iter().map(phrases::footnote).collect(),
        }]
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

/// The systems, the host, the run and its rounds.
fn facts(reports: &Reports) -> Vec<Fact> {
    let systems = reports.systems.iter().map(|system| Fact::new(&system.id, phrases::system(system)));
    let run = [
        Fact::new("host", phrases::host(&reports.run)),
        Fact::new("run", phrases::run(&reports.run)),
    ];
    let incomplete = phrases::incomplete(&reports.run).map(|incomplete| Fact::new("", incomplete));
    systems.chain(run).chain(incomplete).chain([Fact::new("rounds", reports.evidence.join(" "))]).collect()
}

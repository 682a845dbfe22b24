//! The report of a run as a document: its head, and one list of sections for every format.

mod capacity_tables;
mod cells;
mod check_tables;
pub(crate) mod claims;
pub(crate) mod cost_tables;
mod counter_tables;
pub(crate) mod crash_tables;
mod driver_tables;
pub(crate) mod frontier;
mod host_tables;
pub(crate) mod joined_tables;
mod ladder_tables;
pub(crate) mod left_out;
mod matrices;
mod query_plans;
mod repeated_tables;
mod scaling_tables;
mod stack_tables;
mod steady_state;
mod sweep_tables;
pub(crate) mod undecided;
pub(crate) mod why;

use serde::Serialize;

use crate::document::{Document, Fact, Section};
use crate::format::{Report, json};
use crate::model::Reports;
use crate::wording::{in_force, phrases};

pub(crate) use cells::{cell_shown, relative_shown};

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
    Part { id: "ladders", of: ladder_tables::section },
    Part { id: "absolute", of: matrices::absolute },
    Part { id: "relative", of: matrices::relative },
    Part { id: "efficiency", of: cost_tables::section },
    Part { id: "disk", of: matrices::disk },
    Part { id: "capacity", of: capacity_tables::section },
    Part { id: "configurations", of: sweep_tables::configurations },
    Part { id: "sensitivity", of: sweep_tables::sensitivity },
    Part { id: "joined", of: joined_tables::section },
    Part { id: "counters", of: counter_tables::section },
    Part { id: "crashes", of: crash_tables::section },
    Part { id: "plans", of: query_plans::section },
    Part { id: "repeated", of: repeated_tables::section },
    Part { id: "claims", of: claims::section },
    Part { id: "scaling", of: scaling_tables::section },
    Part { id: "frontier", of: frontier::section },
    Part { id: "stacks", of: stack_tables::section },
    Part { id: "left-out", of: left_out::of_run },
    Part { id: "hosts", of: host_tables::section },
    Part { id: "drivers", of: driver_tables::section },
    Part { id: "undecided", of: undecided::section },
    Part { id: "steady-state", of: steady_state::section },
    Part { id: "variation", of: check_tables::variation },
    Part { id: "trial-warnings", of: check_tables::trial_warnings },
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

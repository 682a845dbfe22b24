//! A proof of the cause of a difference, as a document.

use dyno_judge::{Probe, ProbeEffect};

use crate::document::{Document, Section};
use crate::format::Report;
use crate::model::proof::{MadeProbe, ProofReport};
use crate::wording::number::counted;
use crate::wording::words;

impl Report for ProofReport {
    fn documents(&self) -> Vec<Document> {
        vec![Document {
            title: title(self),
            paragraphs: self.sentences(),
            sections: vec![probes(self)],
            ..Document::default()
        }]
    }
}

fn title(report: &ProofReport) -> String {
    let ProofReport { base, candidate, step, clients, .. } = report;
    format!("{candidate} against {base}: {step} at {}, proven", counted(u64::from(*clients), "client"))
}

fn probes(report: &ProofReport) -> Section {
    let line = |made: &MadeProbe| {
        let what = match &made.probe {
            Probe::Whole => report.candidate.clone(),
            Probe::Changes(changes) => format!("{} with {}", report.base, report.names(changes)),
        };
        let found = match (made.effect, &made.refused) {
            (Some(ProbeEffect { ratio, interval }), _) => words::ratio_in(ratio, interval),
            (None, Some(message)) => message.clone(),
            (None, None) => "not measured".to_owned(),
        };
        format!("run {}: {what}: {found}", made.run)
    };
    Section {
        title: "Comparisons".to_owned(),
        paragraphs: vec![format!(
            "Throughput as a multiple of {}'s. An interval misses the true value with a probability of {:.2}%.",
            report.base,
            100.0 * report.alpha / report.probes_max as f64
        )],
        items: report.probes.iter().map(line).collect(),
        ..Section::default()
    }
}

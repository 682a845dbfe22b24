//! The explanation of differences as documents.

mod plans;
mod proof;
mod proof_words;
mod sections;
#[cfg(test)]
mod tests;

use dyno_judge::{AmountChange, Explanation, Finding};

use self::sections::sections;
use crate::document::Document;
use crate::format::Report;
use crate::wording::in_force;
use crate::wording::number::{counted, ratio, three_digits};
use crate::wording::words;

pub(crate) use self::plans::difference;
pub(crate) use self::sections::{amounts, is_quotient, setting_line, suspect_line};

/// The name of the cost that is the server's CPU time.
pub(crate) const SERVER_CPU: &str = "server CPU µs";

impl Report for [Explanation] {
    fn documents(&self) -> Vec<Document> {
        let document = |explanation: &Explanation| Document {
            title: title(explanation),
            paragraphs: sentences(explanation),
            sections: sections(explanation),
            ..Document::default()
        };
        self.iter().map(document).collect()
    }
}

pub(crate) fn title(explanation: &Explanation) -> String {
    let Explanation { base, candidate, step, clients, .. } = explanation;
    format!("{candidate} against {base}: {step} at {}", counted(u64::from(*clients), "client"))
}

/// Returns the sentences on the difference, on the part of it that the server's CPU time explains, on tables that are
/// read differently, and on suspects.
pub(crate) fn sentences(explanation: &Explanation) -> Vec<String> {
    let Explanation { base, candidate, finding, interval, .. } = explanation;
    let what = explanation.operation.as_str();
    let mut sentences = vec![format!(
        "{candidate} does {} times as many operations ({what}) a second as {base}: {}.",
        words::ratio_in(explanation.ratio, *interval),
        words::finding(*finding, "the margin"),
    )];
    sentences.extend(in_force::sentences(&explanation.not_in_force));
    if !matches!(finding, Finding::Improved | Finding::Regressed) {
        sentences.push("The difference has no verdict, so there is nothing to explain.".to_owned());
        return sentences;
    }
    let cpu = explanation.costs.iter().find(|cost| cost.name == SERVER_CPU);
    sentences.extend(cpu.map(|cpu| cpu_sentence(cpu, what)));
    sentences.extend(plans::sentences(explanation));
    let named: Vec<&str> = explanation
        .settings
        .iter()
        .filter(|it| !it.evidence.is_empty())
        .map(|it| it.setting.name.as_str())
        .collect();
    sentences.push(match named.as_slice() {
        [] if explanation.settings.is_empty() => "No setting differs.".to_owned(),
        [] => format!(
            "{} differ; none is known to affect what changed.",
            counted(explanation.settings.len() as u64, "setting")
        ),
        [only] => format!("Of the settings that differ, {only} affects what changed."),
        [first, ..] => format!(
            "Of the settings that differ, {} affect what changed; {first} affects the most telling change.",
            named.len()
        ),
    });
    sentences
}

fn cpu_sentence(cpu: &AmountChange, what: &str) -> String {
    let of_rounds = if sections::is_quotient(cpu) { "" } else { "median of the rounds; " };
    let amounts = format!(
        "{of_rounds}{} µs where the base takes {}",
        three_digits(cpu.candidate),
        three_digits(cpu.base)
    );
    let Some(of_base) = cpu.ratio else {
        return format!("Of the server's CPU, a {what} takes {amounts}.");
    };
    let takes = format!(
        "A {what} takes {} times the server's CPU ({amounts})",
        words::ratio_in(of_base, cpu.interval)
    );
    if cpu.is_clear {
        format!(
            "{takes}. If only CPU limited throughput, it would be {} times as high.",
            ratio(1.0 / of_base)
        )
    } else if cpu.is_same {
        format!("{takes}, so the difference is in waiting, not in CPU.")
    } else {
        format!("{takes}; whether that changed is not decided.")
    }
}

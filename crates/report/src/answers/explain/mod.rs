//! The explanation of differences as text, for a terminal, a page or a program.

mod plans;
mod proof;
mod proof_words;
mod sections;
#[cfg(test)]
mod tests;

use dyno_judge::{AmountChange, Explanation, Finding};

use self::sections::sections;
use crate::format::json;
use crate::format::markdown;
use crate::format::text::Lines;
use crate::wording::in_force;
use crate::wording::number::{counted, ratio, three_digits};
use crate::wording::words;
use crate::{Format, RenderOptions};

pub(crate) use self::plans::difference;
pub(crate) use self::sections::{amounts, is_quotient, setting_line, suspect_line};

pub use self::proof::{ChangedSetting, MadeProbe, ProofChange, ProofReport, STEP, render_proof};

/// The name of the cost that is the server's CPU time.
pub(crate) const SERVER_CPU: &str = "server CPU µs";

/// Writes explanations, one after the other. `options` only affects the text format.
pub fn render_explanations(explanations: &[Explanation], format: Format, options: &RenderOptions) -> String {
    match format {
        Format::Text => text(explanations, options),
        Format::Markdown => markdown(explanations),
        Format::Json => json::text(explanations),
    }
}

fn text(explanations: &[Explanation], options: &RenderOptions) -> String {
    let mut out = Lines::new(options);
    for (at, explanation) in explanations.iter().enumerate() {
        if at > 0 {
            out.line("");
            out.line("");
        }
        out.heading(&title(explanation));
        for sentence in sentences(explanation) {
            out.paragraph(&sentence);
        }
        for section in sections(explanation) {
            out.section(&section);
        }
    }
    out.text
}

fn markdown(explanations: &[Explanation]) -> String {
    let blocks = |explanation: &Explanation| {
        let mut blocks = vec![format!("# {}", markdown::escaped(&title(explanation)))];
        blocks.extend(sentences(explanation).iter().map(|sentence| markdown::escaped(sentence)));
        blocks.extend(sections(explanation).iter().flat_map(markdown::section));
        blocks
    };
    explanations.iter().flat_map(blocks).collect::<Vec<_>>().join("\n\n") + "\n"
}

pub(crate) fn title(explanation: &Explanation) -> String {
    let Explanation { base, candidate, step, clients, .. } = explanation;
    format!("{candidate} against {base}: {step} at {}", counted(u64::from(*clients), "client"))
}

/// The difference, what of it the server's CPU accounts for, tables that are read in another way, and suspects.
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
        sentences.push("No difference is decided, so there is nothing to explain.".to_owned());
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
            "{} differ; none is known to act on what changed.",
            counted(explanation.settings.len() as u64, "setting")
        ),
        [only] => format!("Of the settings that differ, {only} acts on what changed."),
        [first, ..] => format!(
            "Of the settings that differ, {} act on what changed, {first} on the most telling.",
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
        format!("{takes}. If CPU were all that limits, throughput would be {} times.", ratio(1.0 / of_base))
    } else if cpu.is_same {
        format!("{takes}, so the difference is in waiting, not in CPU.")
    } else {
        format!("{takes}; whether that changed is not decided.")
    }
}

//! Phrases around tables, for all formats that people read.

use dyno_judge::{Finding, Method, Rule};
use dyno_store::{Correction, HostRecord};

use crate::model::{Cell, Content, Footnote, Header, Range, Relative, Reports, System};
use crate::wording::number::{self, counted, shortest};

/// The base's id; a dash if the run has no base yet.
pub(crate) fn base_id(reports: &Reports) -> &str {
    reports.systems.iter().find(|system| system.is_base).map_or("–", |base| &base.id)
}

/// The title of a run's report: `MySQL 5.6 against MyRocks (plan first-look, run 3)`.
pub(crate) fn title(run: &Header) -> String {
    let title = if run.title.is_empty() { &run.plan } else { &run.title };
    format!("{title} (plan {}, run {})", run.plan, run.id)
}

/// A system's name with its exact version, the digest of its image, and whether it is the base or the anchor. If Dyno
/// connected to a server that already ran, the text also says how connections are encrypted.
pub(crate) fn system(system: &System) -> String {
    let version = system.engine_version.as_deref().unwrap_or("version unknown, it never started");
    let encryption = match system.encryption.as_deref() {
        None => String::new(),
        Some("none") => ", not encrypted".to_owned(),
        Some(tls) => format!(", {tls}"),
    };
    let digest = system.image.as_deref().map_or_else(String::new, short_digest);
    let role = match (system.is_base, system.is_anchor) {
        (true, true) => " (base, anchor)",
        (true, false) => " (base)",
        (false, true) => " (anchor)",
        (false, false) => "",
    };
    format!("{}, {version}{digest}{encryption}{role}", system.name)
}

/// The first digits of an image's digest, which are enough to identify it: `, sha256:0123456789ab`.
fn short_digest(image: &str) -> String {
    const SHOWN: usize = "sha256:0123456789ab".len();
    let digest = image.rsplit_once('@').map_or(image, |(_, digest)| digest);
    format!(", {}", digest.get(..SHOWN).unwrap_or(digest))
}

/// The CPU, memory, operating system and kernel of the host, if the run recorded them.
pub(crate) fn host(run: &Header) -> String {
    let HostRecord { cpu_model, cpus, memory_bytes, os, kernel, are_cores_awake, .. } = &run.host;
    let parts = [
        cpu_model.clone(),
        cpus.map(|cpus| counted(cpus, "CPU")),
        memory_bytes.map(|bytes| format!("{} of memory", number::bytes(bytes))),
        os.clone(),
        kernel.as_ref().map(|kernel| format!("Linux {kernel}")),
        (*are_cores_awake == Some(true)).then(|| "idle cores kept awake".to_owned()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "unknown".to_owned() } else { parts.join(", ") }
}

/// When the run started, its rounds and the seconds of its trials, and what is needed to repeat the run: the scale,
/// the seed and the version.
pub(crate) fn run(run: &Header) -> String {
    let mut parts = vec![run.started_at.replace('T', " ").replace('Z', " UTC")];
    if let Some(rounds) = &run.rounds_per_test {
        let seconds =
            run.seconds_per_trial.as_ref().map(|seconds| format!(" of {} s", span(seconds, shortest)));
        let noun = if rounds.max == 1 { "round" } else { "rounds" };
        parts.push(format!(
            "{} {noun}{} a test",
            span(rounds, |rounds| rounds.to_string()),
            seconds.unwrap_or_default()
        ));
    }
    if run.trials_superseded > 0 {
        parts.push(format!("{} run again", counted(run.trials_superseded, "disturbed trial")));
    }
    if run.counts_disturbed {
        parts.push("disturbed rounds count".to_owned());
    }
    if (run.scale - 1.0).abs() > f64::EPSILON {
        parts.push(format!("scale {}", shortest(run.scale)));
    }
    parts.push(format!("seed {}", run.seed));
    parts.push(format!("Dyno {}", run.dyno_version));
    parts.join(", ")
}

fn span<T: Copy>(range: &Range<T>, text: impl Fn(T) -> String) -> String {
    let [min, max] = [text(range.min), text(range.max)];
    if min == max { min } else { format!("{min}–{max}") }
}

/// A sentence on trials that failed or are missing. `None` if every planned trial completed. If the run ended early
/// because all tests were decided, no trial counts as missing. While the run is in progress, the sentence states its
/// progress.
pub(crate) fn incomplete(run: &Header) -> Option<String> {
    if run.is_going_on() {
        let failed =
            if run.trials_failed > 0 { format!(", {} failed", run.trials_failed) } else { String::new() };
        let ended = run.trials_completed + run.trials_failed;
        let planned = counted(run.trials_planned, "trial");
        return Some(format!("The run is still in progress: {ended} of {planned} have ended{failed}."));
    }
    let ended_early = run.looks > 1 && run.state == "finished";
    let missing = run.trials_planned.saturating_sub(run.trials_completed + run.trials_failed);
    let missing = if ended_early { 0 } else { missing };
    let planned = counted(run.trials_planned, "planned trial");
    match (run.trials_failed, missing) {
        (0, 0) => None,
        (failed, 0) => Some(format!("Of {planned}, {failed} failed.")),
        (0, missing) => Some(format!("Of {planned}, {missing} are missing: the run {}.", fate(run))),
        (failed, missing) => {
            Some(format!("Of {planned}, {failed} failed and {missing} are missing: the run {}.", fate(run)))
        }
    }
}

fn fate(run: &Header) -> &'static str {
    match run.state {
        "killed" => "was killed",
        "interrupted" => "was interrupted",
        "failed" => "could not continue",
        _ => "has finished without them",
    }
}

/// What the rule guarantees about false alarms, in words.
pub(crate) fn error(rule: &Rule) -> String {
    let percent = shortest(rule.alpha * 100.0);
    match rule.correction() {
        Correction::Holm => {
            format!("with a chance of at most {percent}% for any false alarm in all tests (Holm)")
        }
        Correction::MaxT => {
            format!("with a chance of at most {percent}% for any false alarm in all tests (max-T)")
        }
        Correction::Fdr => format!("with at most {percent}% of the alarms false (Benjamini–Hochberg)"),
        Correction::None => format!("with a chance of at most {percent}% for a false alarm in each test"),
    }
}

/// Explains the signs beside ratios. `None` if no ratio has a verdict or a sign.
pub(crate) fn marks_note(reports: &Reports) -> Option<String> {
    let same = format!("= the same within {}", number::margin(&reports.rule));
    let signs = [
        (Finding::Improved, "+ faster"),
        (Finding::Regressed, "− slower"),
        (Finding::Same, &same),
        (Finding::NotEnoughEvidence, "? not decided"),
        (Finding::Decays, "↘ its rate falls, the base's does not"),
        (Finding::Unjudged, "· not judged"),
        (Finding::Failed, "! failed where the base did not"),
    ];
    let has = |finding| ratios(reports).any(|relative| relative.finding == Some(finding));
    let signs: Vec<&str> =
        signs.into_iter().filter(|(finding, _)| has(*finding)).map(|(_, says)| says).collect();
    (!signs.is_empty()).then(|| format!("Verdicts: {}; {}.", signs.join(", "), error(&reports.rule)))
}

/// How the reports' ratios are computed from rounds, in words.
pub(crate) fn ratio_kind(reports: &Reports) -> &'static str {
    let has = |method| ratios(reports).any(|relative| relative.method == method);
    match (has(Method::Exact), has(Method::StudentT)) {
        (true, false) => "middle of the rounds",
        (true, true) => "middle of the rounds, or with few rounds their geometric mean",
        (false, true) => "geometric mean over rounds",
        (false, false) => "of one round",
    }
}

/// Explains the brackets in the relative report, or why it has no brackets.
pub(crate) fn interval_note(reports: &Reports) -> Option<String> {
    let has = |method| ratios(reports).any(|relative| relative.method == method);
    let kinds = [
        (Method::Exact, "the exact interval"),
        (Method::StudentT, "the t interval of the rounds"),
        (
            Method::ThisPairOnly,
            "an interval from the slices of one round, which holds for this pair of servers only",
        ),
    ];
    let kinds: Vec<&str> =
        kinds.into_iter().filter(|(method, _)| has(*method)).map(|(_, says)| says).collect();
    match &kinds[..] {
        [] if has(Method::None) => Some("There are too few rounds for intervals.".to_owned()),
        [] => None,
        kinds => Some(format!(
            "In brackets: {}; {}, for one test alone.",
            kinds.join(", or with fewer rounds "),
            number::confidence(&reports.rule)
        )),
    }
}

/// The comparisons of all candidates in all tests.
fn ratios(reports: &Reports) -> impl Iterator<Item = &Relative> {
    let cells = reports.relative.rows.iter().flat_map(|row| &row.cells).filter_map(Cell::value);
    cells.filter(|relative| relative.finding.is_some())
}

/// Explains why in-process systems have no client CPU time.
pub(crate) fn in_process_note(reports: &Reports) -> Option<String> {
    let ids: Vec<&str> = reports
        .systems
        .iter()
        .filter(|system| system.is_in_process)
        .map(|system| system.id.as_str())
        .collect();
    let verb = if ids.len() == 1 { "runs" } else { "run" };
    (!ids.is_empty())
        .then(|| format!("{} {verb} inside the load process. Server CPU includes the client, which has no separate figure.", and(&ids)))
}

/// The sign of a multiple that is not the quotient of the figures beside it, and a sentence that explains the sign.
pub(crate) const OF_ROUNDS: &str = "°";
pub(crate) const OF_ROUNDS_NOTE: &str =
    "°: the median of the rounds' own ratios, which is not the quotient of the two medians.";

/// The reference of a cell to its footnote.
pub(crate) fn reference(number: usize) -> String {
    format!(" ({number})")
}

/// A footnote: its number and the failure.
pub(crate) fn footnote(note: &Footnote) -> String {
    format!("({}) {}", note.number, failure(note))
}

/// A failure: the system, the steps, the number of failed trials, and the message.
pub(crate) fn failure(note: &Footnote) -> String {
    let steps: Vec<&str> = note.steps.iter().map(String::as_str).collect();
    let trials = counted(note.trials, "trial");
    format!("{}, {}: {trials} failed: {}", note.system, and(&steps), note.message)
}

/// The text in a cell without a number.
pub(crate) fn content<T>(content: &Content<T>) -> &'static str {
    match content {
        Content::Failed => "failed",
        Content::Disturbed => "disturbed",
        Content::Missing => "missing",
        Content::Incomparable => "no base",
        Content::Measured(_) | Content::Unplanned => "",
    }
}

/// `8 more like these; the HTML and JSON reports list all`.
pub(crate) fn more_items(count: usize) -> String {
    format!("{count} more like these; the HTML and JSON reports list all")
}

/// Joins items as in a sentence: `a, b and c`.
pub(crate) fn and(items: &[&str]) -> String {
    match items {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{reports, run};

    #[test]
    fn products_of_factors_are_rounded() {
        let mut run = run(12);
        run.steps[1].seconds = Some(280.0 * 0.08);
        let told = super::run(&reports(&run).run);
        assert!(told.contains("–22.4 s a test"), "{told}");
    }

    #[test]
    fn the_signs_say_what_the_correction_limits() {
        let mut run = run(12);
        for (correction, error) in [
            (Correction::Holm, "; with a chance of at most 5% for any false alarm in all tests (Holm)."),
            (Correction::MaxT, "; with a chance of at most 5% for any false alarm in all tests (max-T)."),
            (Correction::Fdr, "; with at most 5% of the alarms false (Benjamini–Hochberg)."),
        ] {
            run.record.correction = correction;
            let note = marks_note(&reports(&run)).unwrap();
            assert!(note.ends_with(error), "{note}");
        }
    }
}

//! The sentences and tables on query plans.

use dyno_judge::{Access, AccessChange, Explanation, PlanChange, RefusedPlan};

use crate::document::{Listing, Section};
use crate::wording::number::{counted, ratio};

/// Largest number of statements whose plans are shown. The JSON format has all of them.
const STATEMENTS_MAX: usize = 8;
/// Largest number of tables that sentences name.
const TABLES_MAX: usize = 3;

/// A sentence for each table that is read differently.
pub(super) fn sentences(explanation: &Explanation) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for change in explanation.plans.changes.iter().flat_map(|change| &change.accesses) {
        let (base, candidate) = both(change);
        let sentence = format!(
            "{} reads {} {candidate}, {} {base}.",
            explanation.candidate, change.candidate.table, explanation.base
        );
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    let left = sentences.len().saturating_sub(TABLES_MAX);
    sentences.truncate(TABLES_MAX);
    match left {
        0 => {}
        1 => sentences.push("1 more table is read in another way.".to_owned()),
        left => sentences.push(format!("{left} more tables are read in another way.")),
    }
    sentences
}

/// How the base and the candidate read a table: `by a full scan`, `by index k_1`.
fn both(change: &AccessChange) -> (String, String) {
    let AccessChange { base, candidate } = change;
    let is_one_key = base.key == candidate.key && base.is_full_scan == candidate.is_full_scan;
    let words = |access: &Access| match &access.key {
        _ if access.is_full_scan && !is_one_key => "by a full scan".to_owned(),
        Some(key) if is_one_key => format!("by index {key} ({})", access.how),
        Some(key) => format!("by index {key}"),
        None => format!("by {}", access.how),
    };
    (words(base), words(candidate))
}

/// The section on differing plans; `None` if plans were neither compared nor refused.
pub(super) fn section(explanation: &Explanation) -> Option<Section> {
    let found = &explanation.plans;
    if found.compared == 0 && found.refused.is_empty() {
        return None;
    }
    let shown = found.changes.iter().take(STATEMENTS_MAX);
    let paragraphs = match found.changes.len() {
        0 if found.compared == 0 => "No statement has a plan on both systems.".to_owned(),
        0 => format!("Both have the same plan for {}.", counted(found.compared as u64, "statement")),
        differing => {
            let shown = if differing > STATEMENTS_MAX {
                format!(", of which {STATEMENTS_MAX} are shown")
            } else {
                String::new()
            };
            let compared = counted(found.compared as u64, "statement");
            format!("{differing} of {compared}{shown}; square brackets hold the servers' estimates.")
        }
    };
    Some(Section {
        title: "Plans that differ".to_owned(),
        paragraphs: vec![paragraphs],
        items: refused(&found.refused),
        listings: shown.map(|change| listing(explanation, change)).collect(),
        ..Section::default()
    })
}

fn listing(explanation: &Explanation, change: &PlanChange) -> Listing {
    Listing {
        title: format!("{}: {}", change.statement, difference(change)),
        texts: vec![
            (explanation.base.clone(), change.base.clone()),
            (explanation.candidate.clone(), change.candidate.clone()),
        ],
    }
}

/// What differs between two plans: `sbtest1 by index k_1 → by a full scan`.
pub(crate) fn difference(change: &PlanChange) -> String {
    if let Some(rows) = change.rows_ratio {
        return format!("{} times the rows, by estimate", ratio(rows));
    }
    let of_table = |access: &AccessChange| {
        let (base, candidate) = both(access);
        format!("{} {base} → {candidate}", access.base.table)
    };
    match change.accesses.as_slice() {
        [] => "another plan".to_owned(),
        accesses => accesses.iter().map(of_table).collect::<Vec<_>>().join("; "),
    }
}

/// Lines on statements for which a system gave no plan: one line for each system and reason.
fn refused(refused: &[RefusedPlan]) -> Vec<String> {
    let mut reasons: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for RefusedPlan { system, statement, reason } in refused {
        match reasons.iter_mut().find(|(of, why, _)| of == system && why == reason) {
            Some((_, _, statements)) => statements.push(statement),
            None => reasons.push((system, reason, vec![statement])),
        }
    }
    let line = |(system, reason, statements): (&str, &str, Vec<&str>)| {
        let what = match statements.as_slice() {
            [one] => format!("`{one}`"),
            many => counted(many.len() as u64, "statement"),
        };
        format!("{system} has no plan for {what}: {reason}")
    };
    reasons.into_iter().map(line).collect()
}

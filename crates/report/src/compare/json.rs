//! A comparison as JSON.

use dyno_judge::Judgement;

/// Writes the judgement as JSON.
pub(super) fn render(judgement: &Judgement) -> String {
    let mut json = serde_json::to_string_pretty(judgement).expect("a judgement has text keys only");
    json.push('\n');
    json
}

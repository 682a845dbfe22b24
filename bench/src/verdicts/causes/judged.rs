//! Compares Dyno's explanation and proof, which are JSON, with the planted cause.

use serde_json::Value;

use super::cause::Cause;

/// How a proof compares with the planted cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Whether the proof names the planted cause completely.
    pub(super) is_proven: bool,
    /// Names that the proof blames although they are no part of the planted cause.
    pub(super) wrong: Vec<String>,
}

/// Returns the rank, from 1, of the planted cause among the settings that differ. Returns `None` if the list lacks
/// the cause, or has no evidence for it, because settings without evidence are not ranked.
pub(super) fn place(explanations: &Value, cause: &Cause) -> Option<usize> {
    let settings = explanations[0]["settings"].as_array()?;
    let has_evidence = |it: &Value| it["evidence"].as_array().is_some_and(|evidence| !evidence.is_empty());
    let is_it =
        |it: &Value| it["name"].as_str().is_some_and(|name| cause.has_planted(name)) && has_evidence(it);
    settings.iter().position(is_it).map(|at| at + 1)
}

/// Compares a proof with the planted cause.
pub(super) fn verdict(proof: &Value, cause: &Cause) -> Verdict {
    let ending = proof["proof"]["ending"].as_str().unwrap_or_default();
    let sets: Vec<Vec<Vec<&str>>> = causes(proof);
    let mut wrong: Vec<String> = sets
        .iter()
        .flatten()
        .filter(|change| !is_planted(change, cause))
        .map(|change| change.join(", "))
        .collect();
    let others: Vec<&str> = texts(&proof["others"]);
    let remains = ending == "not_the_changes";
    let is_named =
        cause.remains.as_ref().is_some_and(|words| others.iter().any(|other| other.contains(words)));
    if remains && !is_named {
        wrong.extend(others.iter().map(|&other| other.to_owned()));
    }
    let is_found = |planted: &Vec<String>| {
        sets.iter().any(|set| {
            let members: Vec<&str> = set.iter().flatten().copied().collect();
            planted.iter().all(|name| members.contains(&name.as_str()))
        })
    };
    let is_proven = match &cause.remains {
        Some(_) => remains && is_named,
        None => ending == "proven" && cause.is_there() && cause.planted.iter().all(is_found),
    };
    Verdict { is_proven: is_proven && wrong.is_empty(), wrong }
}

/// Whether a change contains a planted setting. The other settings of the change belong to it only because they
/// depend on the planted one.
fn is_planted(change: &[&str], cause: &Cause) -> bool {
    change.iter().any(|name| cause.has_planted(name))
}

/// Returns the causes that the proof reduced to a minimum. A cause is a list of changes, and a change is a list of
/// names.
fn causes(proof: &Value) -> Vec<Vec<Vec<&str>>> {
    let names = |change: &Value| -> Vec<&str> {
        let at = change.as_u64().map_or(usize::MAX, |at| at as usize);
        let settings = proof["changes"][at]["settings"].as_array().into_iter().flatten();
        settings.filter_map(|setting| setting["name"].as_str()).collect()
    };
    let causes = proof["proof"]["causes"].as_array().into_iter().flatten();
    causes
        .filter(|cause| cause["is_smallest"] == true)
        .map(|cause| cause["changes"].as_array().into_iter().flatten().map(names).collect())
        .collect()
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cause(planted: &[&[&str]], remains: Option<&str>) -> Cause {
        let planted: Vec<String> = planted.iter().map(|set| format!("{set:?}")).collect();
        let remains = remains.map(|words| format!("remains = '{words}'\n")).unwrap_or_default();
        let text = format!(
            "about = 'x'\nengine = 'sqlite'\nworkload = 'oltp_insert'\ninnocent = {{}}\nplanted = [{}]\n{remains}",
            planted.join(", ")
        );
        toml::from_str(&text).unwrap()
    }

    /// Makes a proof that names each set in `causes` as a cause. A set consists of indices of changes: 0 is `a`, 1 is
    /// `b`, 2 is `c` with `d`, and 3 is `step.e`.
    fn proof(ending: &str, causes: &[&[usize]], others: &[&str]) -> Value {
        let change = |names: &[&str]| {
            let settings: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
            json!({ "settings": settings })
        };
        let causes: Vec<Value> =
            causes.iter().map(|changes| json!({ "changes": changes, "is_smallest": true })).collect();
        json!({
            "changes": [change(&["a"]), change(&["b"]), change(&["c", "d"]), change(&["step.e"])],
            "others": others,
            "proof": { "ending": ending, "causes": causes },
        })
    }

    #[test]
    fn only_all_that_was_planted_and_nothing_else_is_proven() {
        let one = cause(&[&["a"]], None);
        let proven = Verdict { is_proven: true, wrong: vec![] };
        assert_eq!(verdict(&proof("proven", &[&[0]], &[]), &one), proven);
        let wrong = |names: &[&str]| Verdict {
            is_proven: false,
            wrong: names.iter().map(|&name| name.to_owned()).collect(),
        };
        assert_eq!(verdict(&proof("proven", &[&[1]], &[]), &one), wrong(&["b"]));
        assert_eq!(verdict(&proof("proven", &[&[0, 2]], &[]), &one), wrong(&["c, d"]));
        assert_eq!(verdict(&proof("proven", &[&[0], &[3]], &[]), &one), wrong(&["step.e"]));
        assert_eq!(
            verdict(&proof("partly", &[&[0]], &[]), &one),
            wrong(&[]),
            "a part of it is not explained"
        );
        assert_eq!(verdict(&proof("gone", &[], &[]), &one), wrong(&[]));
        assert_eq!(verdict(&proof("not_the_changes", &[], &["the tables"]), &one), wrong(&["the tables"]));
    }

    #[test]
    fn what_goes_together_with_a_planted_setting_is_not_wrong() {
        let grouped = cause(&[&["c"]], None);
        assert!(verdict(&proof("proven", &[&[2]], &[]), &grouped).is_proven);
    }

    #[test]
    fn several_causes_are_proven_if_each_is() {
        let adding = cause(&[&["a"], &["step.e"]], None);
        assert!(verdict(&proof("proven", &[&[3], &[0]], &[]), &adding).is_proven);
        assert!(!verdict(&proof("proven", &[&[0]], &[]), &adding).is_proven);
        let together = cause(&[&["a", "b"]], None);
        assert!(verdict(&proof("proven", &[&[0, 1]], &[]), &together).is_proven);
        assert!(!verdict(&proof("proven", &[&[0], &[1]], &[]), &together).is_proven);
    }

    #[test]
    fn what_cannot_be_taken_away_must_be_named_and_no_setting_be_blamed() {
        let build = cause(&[], Some("the engine"));
        assert!(verdict(&proof("not_the_changes", &[], &["the engine (x and y)"]), &build).is_proven);
        assert!(!verdict(&proof("not_the_changes", &[], &["the tables"]), &build).is_proven);
        assert_eq!(verdict(&proof("proven", &[&[0]], &[]), &build).wrong, ["a"]);
        let none = cause(&[], None);
        assert_eq!(verdict(&proof("proven", &[&[0]], &[]), &none).wrong, ["a"]);
        assert_eq!(verdict(&proof("gone", &[], &[]), &none), Verdict::default());
    }

    #[test]
    fn what_was_not_narrowed_blames_nobody() {
        let mut open = proof("not_narrowed", &[&[0, 1]], &[]);
        open["proof"]["causes"][0]["is_smallest"] = json!(false);
        assert_eq!(verdict(&open, &cause(&[&["a"]], None)), Verdict::default());
    }

    #[test]
    fn a_place_takes_evidence() {
        let explanations = |evidence: &[&str]| {
            json!([{ "settings": [
                { "name": "b", "evidence": ["reads"] }, { "name": "a", "evidence": evidence }
            ] }])
        };
        let one = cause(&[&["a"]], None);
        assert_eq!(place(&explanations(&["fsyncs"]), &one), Some(2));
        assert_eq!(place(&explanations(&[]), &one), None);
        assert_eq!(place(&explanations(&["fsyncs"]), &cause(&[], None)), None);
    }
}

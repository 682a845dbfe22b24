//! Differences between the conditions of two runs.

use dyno_store::Run;
use serde::Serialize;

/// A condition in which two runs differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its name (`kernel`).
    pub what: String,
    /// Its value for the base.
    pub base: String,
    /// Its value for the candidate.
    pub candidate: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {} for the base, {} for the candidate", self.what, self.base, self.candidate)
    }
}

/// Differences in facts about the host, in scale, in the version of Dyno, and in the plan.
pub(super) fn differences(base: &Run, candidate: &Run) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut note = |what: &str, base: String, candidate: String| {
        if base != candidate {
            differences.push(Difference { what: what.to_owned(), base, candidate });
        }
    };
    let fact = |run: &Run, name: &str| match run.record.host.get(name) {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "unknown".to_owned(),
    };
    let hosts = [&base.record.host, &candidate.record.host];
    let mut names: Vec<&String> =
        hosts.into_iter().filter_map(|host| host.as_object()).flat_map(serde_json::Map::keys).collect();
    names.sort();
    names.dedup();
    for name in names {
        note(name, fact(base, name), fact(candidate, name));
    }
    note("scale", base.record.scale.to_string(), candidate.record.scale.to_string());
    note("Dyno", base.record.dyno_version.clone(), candidate.record.dyno_version.clone());
    if base.record.plan_text != candidate.record.plan_text {
        note("the plan's text", format!("that of run {}", base.id), format!("that of run {}", candidate.id));
    }
    differences
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::sample::run;

    #[test]
    fn facts_of_either_host_are_compared() {
        let (mut base, mut candidate) = (run(1, &["db"]), run(2, &["db"]));
        base.record.host = json!({ "cpus": 2, "kernel": "6.1", "os": "Debian" });
        candidate.record.host = json!({ "cpus": 4, "kernel": "6.1" });
        candidate.record.scale = 0.5;
        let found: Vec<String> = differences(&base, &candidate).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "cpus, 2 for the base, 4 for the candidate",
                "os, Debian for the base, unknown for the candidate",
                "scale, 0 for the base, 0.5 for the candidate",
            ]
        );
        assert!(differences(&base, &base).is_empty());
    }
}

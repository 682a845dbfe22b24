//! Differences between the conditions of two runs.

use dyno_store::{HostRecord, Run};
use serde::Serialize;

use crate::trial::member::Member;

/// A condition in which two runs differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Name of the condition, such as `kernel`.
    pub what: String,
    /// The base's value.
    pub base: String,
    /// The candidate's value.
    pub candidate: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {} for the base, {} for the candidate", self.what, self.base, self.candidate)
    }
}

/// Lists the facts that are not equal in all runs of the two sides: facts about the host, scale, Dyno's version, and
/// the plan's text.
pub(super) fn differences(base: &[Member<'_>], candidate: &[Member<'_>]) -> Vec<Difference> {
    of_runs(&runs(base), &runs(candidate))
}

fn runs<'a>(side: &[Member<'a>]) -> Vec<&'a Run> {
    side.iter().map(|member| member.run()).collect()
}

fn of_runs(base: &[&Run], candidate: &[&Run]) -> Vec<Difference> {
    let all = || base.iter().chain(candidate).copied();
    let mut differences = Vec::new();
    let mut note = |what: &str, value: &dyn Fn(&Run) -> String| {
        let values = |runs: &[&Run]| {
            let mut values: Vec<String> = runs.iter().map(|run| value(run)).collect();
            values.sort();
            values.dedup();
            values
        };
        if values(&all().collect::<Vec<_>>()).len() > 1 {
            let text = |runs: &[&Run]| values(runs).join(" and ");
            differences.push(Difference {
                what: what.to_owned(),
                base: text(base),
                candidate: text(candidate),
            });
        }
    };
    for (at, (name, _)) in HostRecord::default().facts().into_iter().enumerate() {
        note(name, &|run| {
            let (_, fact) = &run.record.host.facts()[at];
            fact.clone().unwrap_or_else(|| "unknown".to_owned())
        });
    }
    note("scale", &|run| run.record.scale.to_string());
    note("Dyno", &|run| run.record.dyno_version.clone());
    note("the plan's text", &|run| {
        let same = all().find(|other| other.record.plan_text == run.record.plan_text);
        format!("that of run {}", same.unwrap_or(run).id)
    });
    differences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::run;

    #[test]
    fn facts_of_either_host_are_compared() {
        let (mut base, mut candidate) = (run(1, &["db"]), run(2, &["db"]));
        candidate.record.host =
            HostRecord { cpus: Some(4), kernel: Some("6.1".to_owned()), ..HostRecord::default() };
        base.record.host =
            HostRecord { cpus: Some(2), os: Some("Debian".to_owned()), ..candidate.record.host.clone() };
        candidate.record.scale = 0.5;
        let found: Vec<String> = of_runs(&[&base], &[&candidate]).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "os, Debian for the base, unknown for the candidate",
                "cpus, 2 for the base, 4 for the candidate",
                "scale, 0 for the base, 0.5 for the candidate",
            ]
        );
        assert!(of_runs(&[&base], &[&base]).is_empty());
    }
}

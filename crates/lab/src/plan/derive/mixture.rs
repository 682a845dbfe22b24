//! A base system with some of another system's settings, limits and steps.

use std::collections::BTreeMap;

use dyno_host::LimitPart;

use crate::plan::{Plan, Probed, Step};

/// Settings, limits and steps that a copy of the base takes over from another system.
#[derive(Clone, Copy, Debug)]
pub struct Mixture<'a> {
    /// Position of the other system in the plan.
    pub other: usize,
    /// Settings to change. `None` is the server's default.
    pub settings: &'a BTreeMap<String, Option<String>>,
    /// Limits on the host that are copied from the other system.
    pub limits: &'a [LimitPart],
    /// Ids of steps that only one of the two systems runs. The mixture runs or skips each of these steps as the
    /// other system does.
    pub steps: &'a [String],
}

impl Plan {
    /// Returns the ids of the steps before the step `test` that only one of two systems runs. There are no loads among
    /// these steps, because all systems run all loads.
    pub fn steps_of_one(&self, test: &str, systems: [usize; 2]) -> Vec<String> {
        let [one, other] = systems.map(|position| self.systems[position].id.as_str());
        let before = self.steps.iter().take_while(|step| step.id != test);
        let of_one = before.filter(|step| step.is_for(one) != step.is_for(other));
        of_one.map(|step| step.id.clone()).collect()
    }

    /// Returns the steps of a probe, which compares two systems. If only one of the two runs a step, the step's
    /// `not_for` names the other. A step that neither system runs is left out.
    pub(in crate::plan) fn steps_of_probe(&self, base: &str, other: &str, probed: Probed<'_>) -> Vec<Step> {
        let of_probe = |step: &Step| {
            let by_base = step.is_for(base);
            let by_other = match probed {
                Probed::System(_) => step.is_for(other),
                Probed::Changed(_) => by_base,
                Probed::Mixed(Mixture { steps, .. }) => by_base != steps.contains(&step.id),
            };
            let without = [(base, by_base), (other, by_other)].into_iter().filter(|(_, runs)| !runs);
            let not_for: Vec<String> = without.map(|(system, _)| system.to_owned()).collect();
            (not_for.len() < 2).then(|| Step { not_for, ..step.clone() })
        };
        self.steps.iter().filter_map(of_probe).collect()
    }
}

#[cfg(test)]
mod tests {
    use dyno_store::SearchQuestion;

    use super::*;
    use crate::plan::testing::{TEXT, parse};

    fn question() -> SearchQuestion {
        SearchQuestion::Tuning { tests: vec!["read-write".to_owned()], stage: None, size: None }
    }

    /// A plan in which only `c` has limits of its own and runs a step before the test.
    fn plan() -> Plan {
        let limits = "confinement = { server_cpus = \"0\", iops = 100 }\n\n[[step]]";
        let own = "[[step]]\nid = \"age\"\ngroup = \"age\"\nworkload = \"oltp_insert\"\noperation = \"query\"\n\
                   events = 10\nnot_for = [\"a\", \"b\"]\n\n[[step]]\nid = \"read-write\"";
        let sqlite = "engine = \"sqlite\"\nsettings = { journal_mode = \"WAL\" }";
        let text = TEXT.replacen(sqlite, "engine = \"postgres\"", 1).replacen("\n[[step]]", limits, 1);
        parse(&text.replace("[[step]]\nid = \"read-write\"", own)).unwrap()
    }

    #[test]
    fn a_base_takes_over_limits_and_steps() {
        let mut plan = plan();
        let steps = plan.steps_of_one("read-write", [0, 2]);
        assert_eq!(steps, ["age"]);
        assert_eq!(plan.steps_of_one("read-write", [0, 1]), Vec::<String>::new());
        plan.keep_test_after(&steps, "read-write", None, None, 1.0).unwrap();
        let settings = BTreeMap::new();
        let probe = |limits: &[LimitPart], steps: &[String]| {
            let mixture = Mixture { other: 2, settings: &settings, limits, steps };
            plan.probe(0, Probed::Mixed(mixture), 4, question())
        };
        let ids = |plan: &Plan| plan.steps.iter().map(|step| step.id.clone()).collect::<Vec<_>>();
        let narrow = probe(&[LimitPart::ServerCpus], &[]);
        assert_eq!(ids(&narrow), ["load", "read-write"], "none of the two runs the step");
        let limits = &narrow.systems[1].confinement;
        assert_eq!((limits.server_cpus.clone(), limits.volume_bytes()), (Some("0".parse().unwrap()), None));
        assert!(narrow.systems[0].confinement.is_none());
        let aged = probe(&[], &steps);
        assert_eq!(ids(&aged), ["load", "age", "read-write"]);
        assert_eq!(aged.steps[1].not_for, ["a"]);
        assert!(aged.systems[1].confinement.is_none());
        let whole = plan.probe(0, Probed::System(2), 4, question());
        assert_eq!((ids(&whole), &whole.steps[1].not_for), (ids(&aged), &aged.steps[1].not_for));
    }
}

//! Selects some of a plan's steps, systems and numbers of clients.

use std::collections::HashSet;

use crate::plan::keys::systems::system::System;
use crate::plan::syntax::error::Problem;
use crate::plan::{Plan, PlanError};
use crate::records;

impl Plan {
    /// Keeps the steps whose id or group matches one of the patterns, and also all loads, because loads fill the
    /// tables. In a pattern, `*` matches any text.
    ///
    /// # Errors
    /// A pattern matches no step.
    pub fn select(&mut self, patterns: &[String]) -> Result<(), PlanError> {
        if patterns.is_empty() {
            return Ok(());
        }
        for pattern in patterns {
            if !self.steps.iter().any(|step| fits(pattern, &step.id) || fits(pattern, &step.group)) {
                let known = self.steps.iter().map(|step| &step.id);
                return Err(Problem::unknown("step", pattern, known).into());
            }
        }
        self.steps.retain(|step| {
            step.is_load()
                || patterns.iter().any(|pattern| fits(pattern, &step.id) || fits(pattern, &step.group))
        });
        self.forget_repeats();
        Ok(())
    }

    /// Clears `repeats` in the steps that repeat a removed step.
    fn forget_repeats(&mut self) {
        let left: HashSet<String> = self.steps.iter().map(|step| step.id.clone()).collect();
        for step in &mut self.steps {
            step.repeats.take_if(|earlier| !left.contains(earlier));
        }
    }

    /// Keeps the base, the anchor, and the systems whose id matches one of the patterns. In a pattern, `*` matches
    /// any text. Claims about removed systems are removed. An empty list changes nothing.
    ///
    /// # Errors
    /// A pattern matches no system.
    pub fn keep_systems(&mut self, patterns: &[String]) -> Result<(), PlanError> {
        for pattern in patterns {
            check_systems(pattern, &self.systems)?;
        }
        self.retain_systems(patterns);
        Ok(())
    }

    pub(in crate::plan) fn retain_systems(&mut self, patterns: &[String]) {
        if patterns.is_empty() {
            return;
        }
        let base = self.systems[self.base].id.clone();
        let anchor = self.anchor.map(|anchor| self.systems[anchor].id.clone());
        self.systems.retain(|system| {
            let id = system.control_of.as_ref().unwrap_or(&system.id);
            *id == base || anchor.as_ref() == Some(id) || patterns.iter().any(|pattern| fits(pattern, id))
        });
        let place = |id: &String| self.systems.iter().position(|system| system.id == *id);
        self.base = place(&base).unwrap_or(0);
        self.anchor = anchor.as_ref().and_then(place);
        let is_left = |id: &String| self.systems.iter().any(|system| system.id == *id);
        self.steps.iter_mut().for_each(|step| step.not_for.retain(is_left));
        self.steps.retain(|step| step.not_for.len() < self.systems.len());
        self.forget_repeats();
        let systems: Vec<_> = (0..self.systems.len()).map(|at| records::system(self, at)).collect();
        let steps = records::steps(self);
        self.claims.retain(|claim| {
            dyno_judge::Claim::parse(&claim.expression)
                .and_then(|claim| claim.check(&systems, &steps))
                .is_ok()
        });
    }

    /// Checks that each listed number of clients is used by a step. A number that no step uses would select nothing.
    ///
    /// # Errors
    /// No step uses one of the numbers. The error names the first such number, and the numbers that steps use.
    pub fn check_clients(&self, listed: &[u32]) -> Result<(), PlanError> {
        let mut known: Vec<u32> = self.steps.iter().flat_map(|step| step.clients.clone()).collect();
        known.sort_unstable();
        known.dedup();
        let unknown = listed.iter().find(|number| !known.contains(number));
        unknown.map_or(Ok(()), |number| {
            let known = known.iter().map(u32::to_string);
            Err(Problem::unknown("number of clients", &number.to_string(), known).into())
        })
    }

    /// Keeps only the listed numbers of clients in every step. A step that has none of the listed numbers, such as a
    /// load with a client for each table, keeps its own numbers. An empty list changes nothing.
    pub fn keep_clients(&mut self, listed: &[u32]) {
        for step in &mut self.steps {
            if step.clients.iter().any(|number| listed.contains(number)) {
                step.clients.retain(|number| listed.contains(number));
            }
        }
    }
}

/// Returns an error if a pattern matches no system.
pub(in crate::plan) fn check_systems(pattern: &str, systems: &[System]) -> Result<(), Problem> {
    let known = systems.iter().map(|system| &system.id);
    let is_known = known.clone().any(|id| fits(pattern, id));
    if is_known { Ok(()) } else { Err(Problem::unknown("system", pattern, known)) }
}

/// Whether a text matches a pattern in which `*` matches any text.
pub(in crate::plan) fn fits(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(start) else { return false };
    (0..=text.len()).any(|at| text.is_char_boundary(at) && fits(rest, &text[at..]))
}

#[cfg(test)]
mod tests {
    use crate::plan::testing::{TEXT, parse, plan};

    #[test]
    fn steps_are_chosen_by_id_or_group_and_loads_stay() {
        for pattern in ["read-write", "write-heavy", "read*", "*write*", "*"] {
            let mut plan = plan();
            plan.select(&[pattern.to_owned()]).unwrap();
            assert_eq!(plan.steps.len(), 2, "{pattern}");
        }
        let mut plan = plan();
        plan.select(&["load".to_owned()]).unwrap();
        assert_eq!(plan.steps.len(), 1);
    }

    #[test]
    fn numbers_of_clients_are_chosen_where_a_step_has_them() {
        let mut plan = plan();
        let clients =
            |plan: &crate::plan::Plan| plan.steps.iter().map(|it| it.clients.clone()).collect::<Vec<_>>();
        let all = clients(&plan);
        for none_of_theirs in [&[][..], &[64]] {
            plan.keep_clients(none_of_theirs);
            assert_eq!(clients(&plan), all);
        }
        assert!(plan.check_clients(&[4]).is_ok() && plan.check_clients(&[]).is_ok());
        let unknown = plan.check_clients(&[4, 0]).unwrap_err().to_string();
        assert!(unknown.contains("number of clients") && unknown.contains('0'), "{unknown}");
        plan.keep_clients(&[4, 64]);
        assert_eq!(plan.steps[1].clients, [4]);
    }

    #[test]
    fn a_step_that_is_for_none_of_the_systems_left_goes_with_them() {
        let mut plan = parse(&format!("{TEXT}not_for = [\"a\", \"b\"]\n")).unwrap();
        plan.keep_systems(&["b".to_owned()]).unwrap();
        let steps: Vec<&str> = plan.steps.iter().map(|step| step.id.as_str()).collect();
        assert_eq!(steps, ["load"]);
        let mut plan = parse(&format!("{TEXT}not_for = [\"a\", \"b\"]\n")).unwrap();
        plan.keep_systems(&["c".to_owned()]).unwrap();
        assert_eq!((plan.steps.len(), plan.steps[1].not_for.as_slice()), (2, &["a".to_owned()][..]));
    }

    #[test]
    fn systems_are_chosen_by_id_and_the_base_and_claims_about_them_stay() {
        let claim = |id: &str, system: &str| {
            format!(
                "[[claim]]\nid = \"{id}\"\nexpression = \"ratio({system}, a, throughput, read-write, 1) > 1\"\nsays = \"x\"\n"
            )
        };
        let text = format!("{TEXT}\n{}{}", claim("of-b", "b"), claim("of-c", "c"));
        let mut plan =
            parse(&text.replacen("base = \"a\"", "base = \"b\"", 1).replace(", a,", ", b,")).unwrap();
        plan.keep_systems(&["c".to_owned()]).unwrap();
        let ids: Vec<&str> = plan.systems.iter().map(|system| system.id.as_str()).collect();
        assert_eq!((ids, plan.base), (vec!["b", "c"], 0));
        assert_eq!(plan.claims.len(), 2);
        plan.keep_systems(&["b".to_owned()]).unwrap();
        assert_eq!((plan.systems.len(), plan.claims.len()), (1, 1));
        let error = plan.keep_systems(&["d".to_owned()]).unwrap_err().to_string();
        assert_eq!(error, "there is no system `d`; there are: b");
    }

    #[test]
    fn a_pattern_that_fits_nothing_is_an_error() {
        let error = plan().select(&["read-wriet".to_owned()]).unwrap_err().to_string();
        assert_eq!(error, "there is no step `read-wriet` — did you mean `read-write`?");
    }
}

//! Makes plans that measure only one test or only the tests of a group, with the loads that these tests need.

use std::collections::BTreeSet;

use crate::plan::keys::steps::queries::Explained;
use crate::plan::keys::steps::step::Step;
use crate::plan::syntax::error::Problem;
use crate::plan::{BetweenSteps, Plan, PlanError};

impl Plan {
    /// Keeps one step, called the test, and the loads before it. The test has one number of clients: `clients`, or
    /// else its smallest number. The test takes `seconds`. Without `seconds`, the test keeps its own seconds, but at
    /// most `seconds_max` unless it searches for a rate. Crashes, samples of stacks and query plans are left out.
    /// Tables are loaded once, unless the test is itself a load.
    ///
    /// # Errors
    /// There is no such step.
    pub fn keep_one_test(
        &mut self,
        step: &str,
        clients: Option<u32>,
        seconds: Option<f64>,
        seconds_max: f64,
    ) -> Result<(), PlanError> {
        self.keep_test_after(&[], step, clients, seconds, seconds_max)
    }

    /// Like [`keep_one_test`](Self::keep_one_test), but also keeps the steps `before` the test, unchanged.
    ///
    /// # Errors
    /// There is no such step.
    pub fn keep_test_after(
        &mut self,
        before: &[String],
        step: &str,
        clients: Option<u32>,
        seconds: Option<f64>,
        seconds_max: f64,
    ) -> Result<(), PlanError> {
        self.select(&[before, &[step.to_owned()]].concat())?;
        if !self.steps.iter().any(|known| known.id == step) {
            return Err(Problem::Other(format!("`{step}` is a group of steps; name one step")).into());
        }
        self.keep_tests(before, &|own| own.id == step, clients, seconds, seconds_max);
        Ok(())
    }

    /// Keeps the steps of a group, or all steps if `group` is `None`. Each step is changed as
    /// [`keep_one_test`](Self::keep_one_test) changes its test. Loads are kept, but are not tests. Returns the ids
    /// of the tests, at least one.
    ///
    /// # Errors
    /// There is no group of this name, or the group has only loads.
    pub fn keep_group(
        &mut self,
        group: Option<&str>,
        clients: Option<u32>,
        seconds: Option<f64>,
        seconds_max: f64,
    ) -> Result<Vec<String>, PlanError> {
        if let Some(group) = group
            && !self.steps.iter().any(|step| step.group == group)
        {
            let known: BTreeSet<&String> = self.steps.iter().map(|step| &step.group).collect();
            return Err(Problem::unknown("group", group, known).into());
        }
        let is_test = |step: &Step| !step.is_load() && group.is_none_or(|group| step.group == group);
        let tests: Vec<String> =
            self.steps.iter().filter(|step| is_test(step)).map(|step| step.id.clone()).collect();
        if tests.is_empty() {
            return Err(Problem::Other(
                "these steps are loads; name a step or a group that is measured".to_owned(),
            )
            .into());
        }
        self.select(&tests)?;
        self.keep_tests(&[], &is_test, clients, seconds, seconds_max);
        Ok(tests)
    }

    /// Removes the steps after the last test. Sets the number of clients and the seconds of the remaining steps,
    /// except the steps in `before`.
    fn keep_tests(
        &mut self,
        before: &[String],
        is_test: &dyn Fn(&Step) -> bool,
        clients: Option<u32>,
        seconds: Option<f64>,
        seconds_max: f64,
    ) {
        // Steps after the last test do not affect it.
        let end = self.steps.iter().rposition(is_test).map_or(0, |last| last + 1);
        self.steps.truncate(end);
        for own in self.steps.iter_mut().filter(|own| !before.contains(&own.id)) {
            // A step that searches keeps the plan's seconds, even if they are more than `seconds_max`, because such
            // seconds only limit the time of the search.
            let own_seconds = if own.search().is_some() { own.seconds } else { own.seconds.min(seconds_max) };
            own.set_seconds(seconds.unwrap_or(own_seconds));
            (own.crashes, own.stacks) = (0, None);
            own.queries.explain = Explained::Nothing;
            own.warmup_seconds = own.warmup_seconds.min(own.seconds);
            own.clients = match clients {
                Some(clients) if is_test(own) => vec![clients],
                _ => own.clients.iter().copied().min().into_iter().collect(),
            };
        }
        self.load_every_round = self.steps.last().is_some_and(Step::is_load);
        self.reuse_data = !self.load_every_round;
        self.rounds_per_load = None;
        self.warm = true;
        self.between_steps = BetweenSteps::of(&self.steps);
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::testing::plan;

    #[test]
    fn one_test_is_kept_with_its_loads() {
        let mut plan = plan();
        plan.keep_one_test("read-write", Some(4), None, 1.0).unwrap();
        let kept: Vec<_> = plan.steps.iter().map(|step| (step.id.as_str(), step.clients.clone())).collect();
        assert_eq!(kept, [("load", vec![1]), ("read-write", vec![4])]);
        assert!(plan.reuse_data && (plan.steps[1].seconds - 1.0).abs() < 1e-9);
        let group = self::plan().keep_one_test("write-heavy", None, None, 1.0).unwrap_err();
        assert_eq!(group.to_string(), "`write-heavy` is a group of steps; name one step");
    }

    #[test]
    fn the_tests_of_a_group_are_kept_and_loads_are_none() {
        let mut plan = plan();
        let tests = plan.keep_group(Some("write-heavy"), Some(4), Some(0.5), 1.0).unwrap();
        assert_eq!(tests, ["read-write"]);
        let kept: Vec<_> = plan.steps.iter().map(|step| (step.id.as_str(), step.clients.clone())).collect();
        assert_eq!(kept, [("load", vec![1]), ("read-write", vec![4])]);
        assert_eq!(self::plan().keep_group(None, None, None, 1.0).unwrap(), ["read-write"]);
        let error = self::plan().keep_group(Some("write"), None, None, 1.0).unwrap_err().to_string();
        assert!(error.starts_with("there is no group `write`"), "{error}");
        let error = self::plan().keep_group(Some("load"), None, None, 1.0).unwrap_err().to_string();
        assert_eq!(error, "these steps are loads; name a step or a group that is measured");
    }
}

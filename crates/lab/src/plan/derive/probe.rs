//! Plans of single comparisons, for commands that search by comparing: one step, two systems.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use dyno_engine::Catalogue;
use dyno_settings::{is_of_data, plain_name};
use dyno_store::{Correction, Run, SearchQuestion, SearchRecord, SearchSide, SearchStep};
use serde_json::json;

use crate::plan::derive::mixture::Mixture;
use crate::plan::keys::steps::queries::Explained;
use crate::plan::keys::steps::step::Step;
use crate::plan::keys::systems::system::System;
use crate::plan::syntax::error::Problem;
use crate::plan::{BetweenSteps, LeaveDecided, Plan, PlanError, Rounds};
use crate::records;

/// New values of settings, by name; `None` is the server's default.
pub type Changes = BTreeMap<String, Option<String>>;

/// What a probe compares with the base.
#[derive(Clone, Copy, Debug)]
pub enum Probed<'a> {
    /// A system of the plan, by its position.
    System(usize),
    /// The base with some settings changed: to a value, or to the server's default.
    Changed(&'a Changes),
    /// The base with some of another system's settings, limits and steps.
    Mixed(Mixture<'a>),
}

impl Plan {
    /// The plan of a run as it was run: with its scale, the seconds that commands set, and the versions of a bisection.
    /// `named` is the plan that the user names. Without it, the plan's text is taken from the results file, and paths
    /// in it are relative to the current folder.
    ///
    /// # Errors
    /// The text is not a valid plan here, or it is not the plan of this run.
    pub fn of_run(run: &Run, named: Option<Self>, catalogue: &Catalogue) -> Result<Self, PlanError> {
        let id = run.id;
        let plan = match named {
            Some(plan) if plan.text == run.record.plan_text => plan,
            Some(plan) => {
                return Err(Problem::Other(format!(
                    "the plan {} is not that of run {id}: its text has changed since",
                    plan.name
                ))
                .into());
            }
            None => {
                let file = format!("the plan of run {id}");
                Self::parse(&run.record.plan_text, &file, Path::new(""), catalogue)?
            }
        };
        let mut plan = match run.record.scale {
            scale if (scale - 1.0).abs() < f64::EPSILON => plan,
            scale => {
                let scale = plan.scale_of(&scale.to_string())?;
                plan.scaled(&scale)
            }
        };
        plan.steps.retain(|step| run.steps.iter().any(|record| record.id == step.id));
        for step in &mut plan.steps {
            let Some(record) = run.steps.iter().find(|record| record.id == step.id) else { continue };
            if let Some(seconds) = record.seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0) {
                step.set_seconds(seconds);
                step.warmup_seconds =
                    if record.warmup_seconds.is_finite() { record.warmup_seconds } else { 0.0 };
            }
            step.clients.clone_from(&record.clients);
        }
        plan.check_is_of(run)?;
        match run.record.search.as_ref().map(|search| &search.question) {
            Some(SearchQuestion::Bisection { .. }) => plan.with_versions_of(run, catalogue),
            _ => Ok(plan),
        }
    }

    /// An error if the run's steps had other options or workloads, for example because its scale changed rows in
    /// another way than by a factor.
    fn check_is_of(&self, run: &Run) -> Result<(), PlanError> {
        for step in records::steps(self) {
            let is_it = run.steps.iter().any(|record| {
                record.id == step.id && record.options == step.options && record.workload == step.workload
            });
            if !is_it {
                return Err(Problem::Other(format!(
                    "the step {} of run {} had other options than its plan gives it now: {} where the plan has {}",
                    step.id,
                    run.id,
                    run.steps.iter().find(|it| it.id == step.id).map_or(json!(null), |it| it.options.clone()),
                    step.options
                ))
                .into());
            }
        }
        Ok(())
    }

    /// Keeps one step, at one number of clients (by default its smallest), and the loads before it, without
    /// crashes, stacks and plans of statements. The step takes `seconds`. By default it takes its own
    /// seconds, but at most `seconds_max` unless it searches for a rate. Tables are loaded once, unless the
    /// step is itself a load.
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

    /// As [`keep_one_test`](Self::keep_one_test), and keeps some of the steps before the test unchanged.
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

    /// Keeps the steps of a group, or all steps without a group, as [`keep_one_test`](Self::keep_one_test)
    /// keeps one. Loads are not tests here. Returns the ids of the tests, at least one.
    ///
    /// # Errors
    /// There is no such group, or it has only loads.
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

    /// Keeps the steps that some tests need, and gives the tests their number of clients and their seconds.
    /// Steps in `before` stay as they are.
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
            // The seconds of a search are the most that it may take.
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
        self.between_steps = BetweenSteps::Keep;
    }

    /// The plan with two other systems, the first as the base, for a question of a search. It keeps the text
    /// of the plan that it was derived from.
    pub(in crate::plan) fn with_systems(
        mut self,
        systems: [System; 2],
        mut sides: [SearchSide; 2],
        rounds: Rounds,
        question: SearchQuestion,
    ) -> Self {
        self.title = format!("{} against {}", in_words(&sides[1]), in_words(&sides[0]));
        for (side, system) in sides.iter_mut().zip(&systems) {
            side.build = system.source.build();
        }
        let step = |step: &Step| SearchStep {
            id: step.id.clone(),
            clients: step.clients.clone(),
            seconds: step.seconds,
        };
        let steps = self.steps.iter().map(step).collect();
        let (rounds_max, files_hash) = (rounds.max(), hash_of(&self.files));
        self.search = Some(SearchRecord { question, sides, steps, rounds: rounds_max, files_hash });
        self.systems = systems.into();
        self.base = 0;
        self.anchor = None;
        self.rounds = rounds;
        // A search reads intervals beside verdicts.
        self.leave_decided = LeaveDecided(false);
        // A probe has a small error probability. Within few rounds only Student's t of each test alone
        // reaches it.
        self.correction = Correction::Holm;
        self.claims.clear();
        self.ladders.clear();
        self.crash = None;
        self
    }

    /// The plan with two systems: its system at the index `base`, and `probed`. A changed base uses the data of
    /// the base, unless a change affects the layout of tables on disk. In that case each round loads again. Two
    /// loads differ by chance. If all rounds used the same two loads, their difference would look like an effect
    /// of the change.
    #[must_use]
    pub fn probe(&self, base: usize, probed: Probed<'_>, rounds: u32, question: SearchQuestion) -> Self {
        let sides = self.sides(base, probed);
        let base = self.systems[base].alone();
        let other = match probed {
            Probed::System(position) => self.systems[position].alone(),
            Probed::Changed(changes) => base.changed(changes, "changed"),
            Probed::Mixed(Mixture { other, settings, limits, .. }) => {
                let mut mixed = base.changed(settings, "changed");
                for part in limits {
                    part.copy(&self.systems[other].confinement, &mut mixed.confinement);
                }
                mixed
            }
        };
        let steps = self.steps_of_probe(&base.id, &other.id, probed);
        let has_own_data = other.data_settings.as_ref().is_some_and(|of_data| *of_data != base.settings);
        let plan = Self { steps, ..self.clone() }.loading_anew_if(has_own_data);
        plan.with_systems([base, other], sides, Rounds::Fixed(rounds), question)
    }

    /// The plan with two changed copies of a system, which is given by its position. `name` is added to the id of the
    /// first copy. Both begin on the system's data as a changed base does.
    #[must_use]
    pub fn probe_of_changes(
        &self,
        system: usize,
        (name, first): (&str, &Changes),
        second: &Changes,
        rounds: u32,
        question: SearchQuestion,
    ) -> Self {
        let system = self.systems[system].alone();
        let sides = [first, second].map(|changes| changed_side(&system.id, changes));
        let steps = self.steps.iter().filter(|step| step.is_for(&system.id)).cloned().collect();
        let systems = [system.changed(first, name), system.changed(second, "changed")];
        let has_own_data = systems[0].data_settings != systems[1].data_settings;
        let plan = Self { steps, ..self.clone() }.loading_anew_if(has_own_data);
        plan.with_systems(systems, sides, Rounds::Fixed(rounds), question)
    }

    /// The two systems of a probe, for its record.
    fn sides(&self, base: usize, probed: Probed<'_>) -> [SearchSide; 2] {
        let id = &self.systems[base].id;
        let other = match probed {
            Probed::System(position) => changed_side(&self.systems[position].id, &Changes::new()),
            Probed::Changed(changes) => changed_side(id, changes),
            Probed::Mixed(Mixture { settings, limits, steps, .. }) => SearchSide {
                limits: limits.iter().map(|part| part.name().to_owned()).collect(),
                steps: steps.to_vec(),
                ..changed_side(id, settings)
            },
        };
        [changed_side(id, &Changes::new()), other]
    }

    /// Loads anew in each round if the systems have data of their own, because two loads differ by chance.
    fn loading_anew_if(self, has_own_data: bool) -> Self {
        Self {
            load_every_round: self.load_every_round || has_own_data,
            reuse_data: self.reuse_data && !has_own_data,
            ..self
        }
    }
}

impl System {
    /// This system as the only user of its data, outside its sweep or ladder.
    fn alone(&self) -> Self {
        Self { configuration: None, ladder: None, control_of: None, data_settings: None, ..self.clone() }
    }

    /// This system with some settings changed. `name` is added to its id.
    fn changed(&self, changes: &Changes, name: &str) -> Self {
        let family = self.source.entry().map(|entry| entry.family);
        let (mut settings, mut data_settings) = (self.settings.clone(), self.settings.clone());
        for (name, value) in changes {
            set(&mut settings, name, value.as_ref());
            if family.is_none_or(|family| is_of_data(family, name)) {
                set(&mut data_settings, name, value.as_ref());
            }
        }
        Self {
            id: format!("{}.{name}", self.id),
            settings,
            data_settings: Some(data_settings),
            ..self.clone()
        }
    }
}

/// FNV-1a (RFC 9923) of the contents of files. A file that cannot be read counts with its path.
fn hash_of(files: &[PathBuf]) -> u64 {
    let content = |file: &PathBuf| fs::read(file).unwrap_or_else(|_| file.as_os_str().as_bytes().to_vec());
    let bytes = files.iter().flat_map(content);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn changed_side(system: &str, changes: &Changes) -> SearchSide {
    SearchSide { system: system.to_owned(), settings: changes.clone(), ..SearchSide::default() }
}

/// `mariadb`, or `mariadb with sync_binlog = 0, iops`.
fn in_words(side: &SearchSide) -> String {
    let setting = |(name, value): (&String, &Option<String>)| match value {
        Some(value) => format!("{name} = {value}"),
        None => format!("the default of {name}"),
    };
    let settings = side.settings.iter().map(setting);
    let changes: Vec<String> =
        settings.chain(side.limits.iter().cloned()).chain(side.steps.iter().cloned()).collect();
    if changes.is_empty() {
        side.system.clone()
    } else {
        format!("{} with {}", side.system, changes.join(", "))
    }
}

fn set(settings: &mut BTreeMap<String, String>, name: &str, value: Option<&String>) {
    // Plans may write a name with hyphens.
    settings.retain(|known, _| known == name || plain_name(known) != plain_name(name));
    match value {
        Some(value) => settings.insert(name.to_owned(), value.clone()),
        None => settings.remove(name),
    };
}

#[cfg(test)]
mod tests {
    use dyno_store::{RunId, RunRecord, RunState};

    use super::*;
    use crate::plan::testing::{TEXT, parse, plan};

    const TITLE: &str = "a with the default of innodb_doublewrite, sort_buffer_size = 4M against a";

    fn question() -> SearchQuestion {
        SearchQuestion::Tuning { tests: vec!["read-write".to_owned()], stage: None, size: None }
    }

    fn changes(pairs: &[(&str, Option<&str>)]) -> Changes {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned))).collect()
    }

    #[test]
    fn a_changed_base_keeps_its_data_unless_a_change_decides_it() {
        let plan = plan();
        let quick = changes(&[("sort_buffer_size", Some("4M")), ("innodb_doublewrite", None)]);
        let probe = plan.probe(0, Probed::Changed(&quick), 4, question());
        let [base, changed] = &probe.systems[..] else { panic!() };
        assert_eq!(
            (base.id.as_str(), changed.id.as_str(), probe.rounds),
            ("a", "a.changed", Rounds::Fixed(4))
        );
        assert_eq!(changed.settings["sort_buffer_size"], "4M");
        assert!(!changed.settings.contains_key("innodb_doublewrite"));
        assert_eq!(changed.data_settings.as_ref(), Some(&base.settings));
        assert!(!probe.load_every_round);
        assert_eq!((probe.text.as_str(), probe.title.as_str()), (plan.text.as_str(), TITLE));
        let record = probe.search.clone().unwrap();
        assert_eq!((record.sides[1].settings.clone(), record.rounds), (quick, 4));
        assert_ne!(probe.search, plan.probe(0, Probed::Changed(&changes(&[])), 4, question()).search);
        let pages = changes(&[("innodb_page_size", Some("4k"))]);
        let probe = plan.probe(0, Probed::Changed(&pages), 4, question());
        assert_eq!(probe.systems[1].data_settings.as_ref().unwrap()["innodb_page_size"], "4k");
        assert!(probe.load_every_round && !probe.reuse_data, "two loads differ by chance");
    }

    #[test]
    fn a_system_of_the_plan_is_probed_as_it_is() {
        let probe = plan().probe(0, Probed::System(2), 6, question());
        assert_eq!((probe.systems[1].id.as_str(), &probe.systems[1].data_settings), ("c", &None));
    }

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

    #[test]
    fn two_changed_copies_share_the_system_s_data_and_a_name_with_hyphens_is_the_same() {
        let mut plan = plan();
        plan.systems[0].settings.insert("sort-buffer-size".to_owned(), "1M".to_owned());
        let all = changes(&[("sort_buffer_size", Some("4M")), ("join_buffer_size", Some("2M"))]);
        let fewer = changes(&[("join_buffer_size", Some("2M"))]);
        let probe = plan.probe_of_changes(0, ("tuned", &all), &fewer, 6, question());
        let [first, second] = &probe.systems[..] else { panic!() };
        assert_eq!((first.id.as_str(), second.id.as_str()), ("a.tuned", "a.changed"));
        assert_eq!(first.settings["sort_buffer_size"], "4M");
        assert!(!first.settings.contains_key("sort-buffer-size"));
        assert_eq!(second.settings["sort-buffer-size"], "1M");
        assert_eq!(first.data_settings.as_ref(), Some(&plan.systems[0].settings));
        assert_eq!(first.data_settings, second.data_settings);
        assert!(!probe.load_every_round);
    }

    #[test]
    fn changed_copies_whose_tables_differ_on_disk_are_loaded_anew_in_each_round() {
        let mut plan = plan();
        plan.reuse_data = true;
        plan.load_every_round = false;
        let all = changes(&[("innodb_page_size", Some("4K")), ("join_buffer_size", Some("2M"))]);
        let fewer = changes(&[("join_buffer_size", Some("2M"))]);
        let probe = plan.probe_of_changes(0, ("tuned", &all), &fewer, 6, question());
        assert_ne!(probe.systems[0].data_settings, probe.systems[1].data_settings);
        assert!(probe.load_every_round && !probe.reuse_data);
    }

    #[test]
    fn changed_copies_do_not_run_what_their_system_does_not() {
        let plan = parse(&format!("{TEXT}not_for = [\"a\"]\n")).unwrap();
        let probe = plan.probe_of_changes(0, ("tuned", &changes(&[])), &changes(&[]), 6, question());
        let steps: Vec<&str> = probe.steps.iter().map(|step| step.id.as_str()).collect();
        assert_eq!(steps, ["load"]);
    }

    fn run_of(plan: &Plan) -> Run {
        Run {
            steps: records::steps(plan),
            ..Run::new(
                RunId(7),
                RunRecord { plan_text: plan.text.clone(), scale: plan.scale, ..RunRecord::default() },
                RunState::Killed,
            )
        }
    }

    #[test]
    fn the_plan_of_a_run_has_its_scale_and_seconds() {
        let catalogue = Catalogue::builtin();
        let twice = plan().scale_of("2").unwrap();
        let mut as_run = plan().scaled(&twice);
        as_run.steps[1].set_seconds(3.0);
        as_run.keep_clients(&[4]);
        let again = Plan::of_run(&run_of(&as_run), None, &catalogue).unwrap();
        assert_eq!(again.data.unwrap().rows, 200);
        assert_eq!((again.steps[1].seconds, again.steps[1].clients.as_slice()), (3.0, &[4][..]));
    }

    #[test]
    fn a_plan_that_is_not_that_of_the_run_is_an_error() {
        let catalogue = Catalogue::builtin();
        let other = parse(&TEXT.replace("range_size = 10", "range_size = 20")).unwrap();
        let error = Plan::of_run(&run_of(&plan()), Some(other), &catalogue).unwrap_err().to_string();
        assert_eq!(error, "the plan small is not that of run 7: its text has changed since");
        let mut run = run_of(&plan());
        run.steps[1].options = json!({ "range_size": "20" });
        let error = Plan::of_run(&run, None, &catalogue).unwrap_err().to_string();
        assert!(error.starts_with("the step read-write of run 7 had other options than its plan"), "{error}");
    }
}

//! Plans of probes. A probe is one comparison of two systems, made by a command that searches by comparing.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use dyno_settings::{is_of_data, plain_name};
use dyno_store::{Correction, SearchQuestion, SearchRecord, SearchSide, SearchStep};

use crate::plan::derive::mixture::Mixture;
use crate::plan::keys::steps::step::Step;
use crate::plan::keys::systems::system::System;
use crate::plan::{LeaveDecided, Plan, Rounds};

/// New values of settings, by name. `None` is the server's default.
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
    /// Returns the plan with its systems replaced by two other systems. The first is the base. `question` says
    /// which question of a search the comparison answers. The field `text` keeps the text of the original plan.
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
        // A search also uses the intervals of tests that are decided, so these tests are still measured.
        self.leave_decided = LeaveDecided(false);
        // A probe has a small error probability. With few rounds, a p-value can be that small only if it is computed
        // with Student's t for each test alone, and not for all tests together.
        self.correction = Correction::Holm;
        self.claims.clear();
        self.ladders.clear();
        self.crash = None;
        self
    }

    /// Returns the plan with two systems: the one at the index `base`, and `probed`. If `probed` is a changed copy of
    /// the base, it starts from the base's loaded data, unless a change affects the layout of tables on disk. With such
    /// a change, every round loads again, because two loads differ by chance. If all rounds used the same two loads,
    /// that difference would look like an effect of the change.
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

    /// Returns the plan with two changed copies of the system at the index `system`. `name` is added to the id of the
    /// first copy. Both copies start from the system's loaded data, unless they differ in settings that affect the
    /// layout of tables on disk. With such a difference, every round loads again.
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

    /// Describes the two systems of a probe for the record of the search.
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

    /// Makes every round load again if the systems have data of their own, because two loads differ by chance.
    fn loading_anew_if(self, has_own_data: bool) -> Self {
        Self {
            load_every_round: self.load_every_round || has_own_data,
            reuse_data: self.reuse_data && !has_own_data,
            ..self
        }
    }
}

impl System {
    /// Returns a copy of this system that belongs to no sweep or ladder and shares its data with no other system.
    fn alone(&self) -> Self {
        Self { configuration: None, ladder: None, control_of: None, data_settings: None, ..self.clone() }
    }

    /// Returns a copy with some settings changed and `name` added to its id. Only settings that affect the layout
    /// of tables on disk change the copy's data.
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

/// Returns the FNV-1a hash (RFC 9923) of the contents of files. For a file that cannot be read, its path is hashed.
fn hash_of(files: &[PathBuf]) -> u64 {
    let content = |file: &PathBuf| fs::read(file).unwrap_or_else(|_| file.as_os_str().as_bytes().to_vec());
    let bytes = files.iter().flat_map(content);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn changed_side(system: &str, changes: &Changes) -> SearchSide {
    SearchSide { system: system.to_owned(), settings: changes.clone(), ..SearchSide::default() }
}

/// Describes one of the two systems of a probe, for example as `mariadb`, or as `mariadb with sync_binlog = 0, iops`.
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
    // The plan may write the setting's name with hyphens instead of underscores. The other spelling is removed, so that
    // the setting does not have two values.
    settings.retain(|known, _| known == name || plain_name(known) != plain_name(name));
    match value {
        Some(value) => settings.insert(name.to_owned(), value.clone()),
        None => settings.remove(name),
    };
}

#[cfg(test)]
mod tests {
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
}

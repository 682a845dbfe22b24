//! The changes between two systems of a plan. A proof tests subsets of them.

use std::collections::{BTreeMap, BTreeSet};

use dyno_engine::Family;
use dyno_host::LimitPart;
use dyno_judge::{Explanation, SettingDifference, Suspect};
use dyno_lab::{Mixture, Plan, Source, System};
use dyno_report::{ChangedSetting, ProofChange};
use dyno_settings::{
    Assignment, Product, SystemFacts, is_of_version, newest_name, normal, plain_name, together, translate,
};

use super::change::{Change, step_name};

/// Differences between two systems of a plan.
pub(super) struct Changes {
    /// The changes, each of which is tested as a whole. Changes with evidence come first.
    groups: Vec<Change>,
    /// The parts of each group, as reports show them.
    told: Vec<Vec<ChangedSetting>>,
    /// Number of groups with evidence.
    pub(super) suspects: usize,
    /// Differences that a proof cannot change, in words.
    pub(super) others: Vec<String>,
    /// Possible differences that are not in the plan, in words.
    pub(super) unstated: String,
    candidate: usize,
}

/// A subset of the changes, in the form that a comparison needs.
pub(super) struct Chosen {
    candidate: usize,
    settings: BTreeMap<String, Option<String>>,
    limits: Vec<LimitPart>,
    steps: Vec<String>,
}

/// A change with its rank in the evidence.
type Ranked = (usize, Change);

impl Changes {
    /// Finds the changes that turn the base into the candidate, as far as they take effect before or in the test. Both
    /// systems are given by their positions in the plan. If the systems have different versions, different defaults of
    /// their servers are changes too, provided that the base's version accepts the candidate's value.
    pub(super) fn between(
        plan: &Plan,
        (base_at, candidate_at): (usize, usize),
        evidence: &Explanation,
    ) -> Self {
        let (base, candidate) = (&plan.systems[base_at], &plan.systems[candidate_at]);
        let mut ranked = planned(base, candidate, evidence);
        ranked.retain_mut(|(rank, change)| keep_in_force(*rank, change, evidence));
        if place(&base.source) != place(&candidate.source) {
            ranked.retain_mut(|(_, change)| keep_of_both(change, base, evidence));
            let named: BTreeSet<String> = ranked.iter().flat_map(|(_, change)| names(change)).collect();
            let defaults = defaults(base, evidence).into_iter();
            ranked.extend(
                defaults.filter(|(_, change)| names(change).iter().all(|name| !named.contains(name))),
            );
        }
        ranked.extend(limits(base, candidate, evidence));
        ranked.extend(steps(plan, [base_at, candidate_at], evidence));
        ranked.sort_by_key(|(rank, _)| *rank);
        let speaks_for = |(rank, _): &&Ranked| {
            evidence.settings.get(*rank).is_some_and(|suspect| !suspect.evidence.is_empty())
        };
        let suspects = ranked.iter().take_while(speaks_for).count();
        let groups: Vec<Change> = ranked.into_iter().map(|(_, change)| change).collect();
        Self {
            told: groups.iter().map(|group| group.told(base, candidate)).collect(),
            groups,
            suspects,
            others: others(base, candidate),
            unstated: unstated(plan),
            candidate: candidate_at,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.groups.len()
    }

    /// Returns the changes with the indices `groups`, in the form that a comparison needs.
    pub(super) fn of(&self, groups: &[usize]) -> Chosen {
        let mut chosen = Chosen {
            candidate: self.candidate,
            settings: BTreeMap::new(),
            limits: Vec::new(),
            steps: Vec::new(),
        };
        for group in groups {
            match &self.groups[*group] {
                Change::Settings(settings) => chosen.settings.extend(settings.clone()),
                Change::Limit(part) => chosen.limits.push(*part),
                Change::Step { id, .. } => chosen.steps.push(id.clone()),
            }
        }
        chosen
    }

    /// Describes groups in words, such as `query_cache_type = 1, the step age`.
    pub(super) fn words(&self, groups: &[usize]) -> String {
        let told = groups.iter().flat_map(|group| &self.told[*group]);
        told.map(ChangedSetting::words).collect::<Vec<_>>().join(", ").replace('\n', " ")
    }

    /// Returns each group for a report, with the group's effect on the base's durability.
    pub(super) fn told(&self, base: Option<&SystemFacts>) -> Vec<ProofChange> {
        let promise = |group: &Change| base?.change_of_promise(group.settings()?);
        let groups = self.groups.iter().zip(&self.told);
        groups.map(|(group, told)| ProofChange { settings: told.clone(), promise: promise(group) }).collect()
    }
}

impl Chosen {
    pub(super) fn mixture(&self) -> Mixture<'_> {
        Mixture { other: self.candidate, settings: &self.settings, limits: &self.limits, steps: &self.steps }
    }
}

/// Returns the names of a change's settings, in lower case and with underscores.
fn names(change: &Change) -> Vec<String> {
    change.settings().into_iter().flat_map(|settings| settings.keys().map(|name| plain_name(name))).collect()
}

/// The settings to which the plan gives the two systems different values, each with its rank in the evidence.
fn planned(base: &System, candidate: &System, evidence: &Explanation) -> Vec<Ranked> {
    let family = base.source.entry().map_or(Family::Mysql, |entry| entry.family);
    let value = |name: String| {
        let value = candidate.settings.get(&name).cloned();
        (name, value)
    };
    let of_group = |group: Vec<String>| {
        let place = group.iter().map(|name| rank(evidence, family, name)).min();
        let settings = group.into_iter().map(value).collect();
        (place.unwrap_or(evidence.settings.len()), Change::Settings(settings))
    };
    together(family, differing(base, candidate)).into_iter().map(of_group).collect()
}

/// Removes from a change the settings that the plan requests but that one of the servers has not put in force. A
/// setting stays nevertheless if the values that the servers report differ. Returns whether any setting remains.
fn keep_in_force(rank: usize, change: &mut Change, evidence: &Explanation) -> bool {
    let Change::Settings(settings) = change else { return true };
    let is_told = rank < evidence.settings.len();
    settings.retain(|name, _| {
        let mut not_in_force = evidence.not_in_force.iter().flat_map(|it| &it.settings);
        is_told || !not_in_force.any(|setting| plain_name(&setting.name) == plain_name(name))
    });
    !settings.is_empty()
}

/// Removes from a change between two versions the settings that one of the two servers lacks, and those whose
/// values are equal in effect: a plan may write the same value differently for each version. Also removes settings
/// under a name that the base's version does not use. Returns whether any setting remains.
fn keep_of_both(change: &mut Change, base: &System, evidence: &Explanation) -> bool {
    let Change::Settings(settings) = change else { return true };
    let family = base.source.entry().map_or(Family::Mysql, |entry| entry.family);
    let product = product(base);
    settings.retain(|name, value| {
        let found = evidence.settings.get(rank(evidence, family, name)).map(|suspect| &suspect.setting);
        let is_of_both = found.is_some_and(|setting| setting.base.is_some() && setting.candidate.is_some());
        let is_in_words_of_base = value.as_ref().zip(product.as_ref()).is_none_or(|(value, product)| {
            let plain = plain_name(name);
            let written = written(product, newest_name(family, &plain).to_owned(), value.clone());
            written.is_none_or(|written| written.keys().any(|one| plain_name(one) == plain))
        });
        is_of_both && is_in_words_of_base
    });
    !settings.is_empty()
}

fn product(system: &System) -> Option<Product> {
    Product::of(system.source.entry()?, system.source.storage_engine()).ok()
}

/// Writes a setting as a version spells it; `None` if the version's spelling is unknown.
fn written(product: &Product, name: String, value: String) -> Option<BTreeMap<String, Option<String>>> {
    let assignment = Assignment { value, ..Assignment::default() };
    let translation = translate(product, &[(name, assignment)].into()).ok()?;
    Some(translation.settings.into_iter().map(|(name, value)| (name, Some(value))).collect())
}

/// The limits that differ between the two systems.
fn limits(base: &System, candidate: &System, evidence: &Explanation) -> Vec<Ranked> {
    let parts = LimitPart::differing(&base.confinement, &candidate.confinement).into_iter();
    parts.map(|part| (place_of(evidence, part.name()), Change::Limit(part))).collect()
}

/// The steps that only one of two systems runs.
fn steps(plan: &Plan, systems: [usize; 2], evidence: &Explanation) -> Vec<Ranked> {
    let candidate = &plan.systems[systems[1]].id;
    let is_candidates = |id: &String| {
        let step = plan.steps.iter().find(|step| step.id == *id);
        step.is_some_and(|step| !step.not_for.contains(candidate))
    };
    let steps = plan.steps_of_one(&evidence.step, systems).into_iter();
    let change = |id: String| {
        let rank = place_of(evidence, &step_name(&id));
        (rank, Change::Step { is_candidates: is_candidates(&id), id })
    };
    steps.map(change).collect()
}

/// Settings that differ between the servers, with the candidate's values, each with its rank in the evidence. The
/// settings are written in the spelling of the base's version.
fn defaults(base: &System, evidence: &Explanation) -> Vec<Ranked> {
    let Some(product) = product(base) else { return Vec::new() };
    let change = |(rank, suspect): (usize, &Suspect)| {
        let SettingDifference { name, candidate, .. } = &suspect.setting;
        let value = candidate.clone().filter(|_| !is_of_version(product.family, name))?;
        let settings = written(&product, name.clone(), value)?;
        (!settings.is_empty()).then_some((rank, Change::Settings(settings)))
    };
    evidence.settings.iter().enumerate().filter_map(change).collect()
}

/// The rank of a setting in the evidence, under the setting's newest name. A setting without evidence comes last.
fn rank(evidence: &Explanation, family: Family, name: &str) -> usize {
    place_of(evidence, newest_name(family, &plain_name(name)))
}

/// The rank of a name in the evidence. A name without evidence comes last.
fn place_of(evidence: &Explanation, name: &str) -> usize {
    let place = evidence.settings.iter().position(|suspect| suspect.setting.name == name);
    place.unwrap_or(evidence.settings.len())
}

/// Names of the settings to which a plan gives two systems different values.
fn differing(base: &System, candidate: &System) -> Vec<String> {
    // If both systems have a setting, the name is spelled as the candidate spells it.
    let names: BTreeMap<String, &String> =
        base.settings.keys().chain(candidate.settings.keys()).map(|name| (plain_name(name), name)).collect();
    let value = |system: &System, plain: &str| {
        let found = system.settings.iter().find(|(name, _)| plain_name(name) == plain);
        found.map(|(_, value)| normal(value))
    };
    let differs = |plain: &str| value(base, plain) != value(candidate, plain);
    names.into_iter().filter(|(plain, _)| differs(plain)).map(|(_, name)| name.clone()).collect()
}

/// Differences that no comparison can remove, in words.
fn others(base: &System, candidate: &System) -> Vec<String> {
    let (base, candidate) = (place(&base.source), place(&candidate.source));
    if base == candidate { Vec::new() } else { vec![format!("the engine ({base} and {candidate})")] }
}

/// Possible differences of the candidate that the plan does not show, in words. For example, a command may
/// recognise the name of the system for which it runs.
fn unstated(plan: &Plan) -> String {
    let commands = plan.steps.iter().flat_map(|step| {
        let command = |there: &Option<String>, when: &str| {
            there.as_ref().map(|_| format!("what the command {when} the step {} does", step.id))
        };
        [command(&step.before, "before"), command(&step.after, "after")].into_iter().flatten()
    });
    let tables = "the tables, which each system has loaded itself".to_owned();
    commands.chain([tables]).collect::<Vec<_>>().join(", or ")
}

/// What identifies an engine: its name, or the folder of a build.
fn place(source: &Source) -> String {
    match source {
        Source::Basedir { installation, .. } => {
            format!("{} in {}", source.name(), installation.root.display())
        }
        _ => source.name(),
    }
}

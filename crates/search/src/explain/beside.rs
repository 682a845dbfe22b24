//! Differences between two systems of a plan other than settings: limits on the host, and steps that only one of
//! the systems ran.

use dyno_host::{Confinement, LimitPart};
use dyno_judge::SettingDifference;
use dyno_store::{Run, SystemRecord};

use crate::prove::{RUN, step_name};

/// Returns the limits on the host that differ between two systems.
pub(super) fn limits(base: &SystemRecord, candidate: &SystemRecord) -> Vec<SettingDifference> {
    let confinement = |system: &SystemRecord| -> Confinement {
        let asked = system.confinement.clone();
        asked.and_then(|asked| serde_json::from_value(asked).ok()).unwrap_or_default()
    };
    let (base, candidate) = (confinement(base), confinement(candidate));
    let difference = |part: LimitPart| SettingDifference {
        name: part.name().to_owned(),
        base: part.value(&base),
        candidate: part.value(&candidate),
        about: Some(part.about().to_owned()),
        acts_on: acts_on(part).iter().map(|&name| name.to_owned()).collect(),
    };
    LimitPart::differing(&base, &candidate).into_iter().map(difference).collect()
}

/// Returns the costs that a limit affects, by their names in reports. A system with less of a resource waits longer
/// for that resource.
fn acts_on(part: LimitPart) -> &'static [&'static str] {
    match part {
        LimitPart::ServerCpus => &["waiting µs", "context switches", "server CPU µs"],
        LimitPart::ClientCpus => &["waiting µs", "client CPU µs"],
        LimitPart::Memory => &["waiting µs", "reads", "bytes read"],
        LimitPart::Volume => &["waiting µs", "reads", "fsyncs"],
    }
}

/// Returns the steps before a test, other than loads, that only one of two systems ran. Such a step may have
/// changed the tables, so it can affect any cost.
pub(super) fn steps(run: &Run, base: &str, candidate: &str, test: &str) -> Vec<SettingDifference> {
    let before = run.steps.iter().take_while(|step| step.id != test);
    let own = before.filter_map(|step| {
        let runs = |system: &str| !step.not_for.iter().any(|without| without == system);
        let value = |is_run: bool| is_run.then(|| RUN.to_owned());
        let (of_base, of_candidate) = (runs(base), runs(candidate));
        (of_base != of_candidate && step.background_of.is_none()).then(|| SettingDifference {
            name: step_name(&step.id),
            base: value(of_base),
            candidate: value(of_candidate),
            about: Some("a step that only one of the two has run".to_owned()),
            acts_on: ["server CPU µs", "waiting µs", "reads", "fsyncs"].map(str::to_owned).to_vec(),
        })
    });
    own.collect()
}

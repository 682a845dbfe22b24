//! Rules on requested settings that are not in force.

use crate::audit::rule::Advice::Do;
use crate::audit::rule::{Hit, Rule, Scene, Severity, each};
use crate::in_force::list;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "same-in-force",
        severity: Severity::Error,
        about: "systems that differ only in settings that are not in force, so they are the same",
        advice: Do("set values that the servers accept, or leave one of the systems out"),
        look: same,
    },
    Rule {
        id: "setting-not-in-force",
        severity: Severity::Warning,
        about: "a system whose server did not apply a setting",
        advice: Do("set a value that the server accepts; its log says why it rejected this one"),
        look: |scene| {
            each(scene, |system| {
                let settings = system.not_in_force();
                (!settings.is_empty()).then(|| format!("was asked for {}", list(&settings)))
            })
        },
    },
];

/// Returns a finding for each system that is the same as an earlier system because requested settings are not in
/// force.
fn same(scene: &Scene<'_>) -> Vec<Hit> {
    let hit = |(at, system): (usize, &crate::SystemFacts)| {
        let (other, settings) =
            scene.systems[..at].iter().find_map(|other| Some((other, other.same_in_force(system)?)))?;
        let ids = vec![other.id.clone(), system.id.clone()];
        let says =
            format!("{} is the same system as {}: not in force is {}", system.id, other.id, list(&settings));
        Some((ids, says))
    };
    scene.systems.iter().enumerate().filter_map(hit).collect()
}

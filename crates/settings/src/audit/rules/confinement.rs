//! Rules on servers' limits on the host.

use crate::audit::facts::SystemLimits;
use crate::audit::rule::Advice::Do;
use crate::audit::rule::{Hit, Rule, Scene, Severity, differ};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "limit-not-in-force",
        severity: Severity::Error,
        about: "a limit of the plan that differs from the value read back from the kernel",
        advice: Do(
            "find out who changes the server's cgroup (systemd, a container's runtime), and stop that",
        ),
        look: |scene| each_line(scene, |limits| &limits.differences),
    },
    Rule {
        id: "not-limited",
        severity: Severity::Warning,
        about: "a limit of the plan that this host cannot apply to everything that it covers",
        advice: Do("install what is missing, or leave the limit out of the plan"),
        look: |scene| each_line(scene, |limits| &limits.not_limited),
    },
    Rule {
        id: "confinement-differs",
        severity: Severity::Note,
        about: "systems that may use different parts of the host",
        advice: Do("fine if the limits are compared; otherwise give all systems the same limits"),
        look: |scene| differ(scene, |system| system.limits.as_ref().map(SystemLimits::words), Clone::clone),
    },
];

/// For each system, returns one finding for each line that `lines` gives.
fn each_line(scene: &Scene<'_>, lines: fn(&SystemLimits) -> &Vec<String>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for system in scene.systems {
        for line in system.limits.iter().flat_map(lines) {
            hits.push((vec![system.id.clone()], format!("{}: {line}", system.id)));
        }
    }
    hits
}

//! Rules on builds.

use crate::audit::rule::Advice::Do;
use crate::audit::rule::{Rule, Severity, each};

pub(super) const RULES: &[Rule] = &[Rule {
    id: "debug-build",
    severity: Severity::Error,
    about: "a build for developers, which checks itself and is far slower",
    advice: Do("build with optimisation and without debugging checks (CMAKE_BUILD_TYPE=RelWithDebInfo)"),
    look: |scene| each(scene, |system| system.is_debug_build().then(|| "is a debug build".to_owned())),
}];

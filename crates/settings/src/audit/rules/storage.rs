//! Rules on the layout of data on disk.

use crate::audit::facts::SystemFacts;
use crate::audit::rule::Advice::Do;
use crate::audit::rule::{Rule, Severity, differ};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "compression-differs",
        severity: Severity::Note,
        about: "some systems compress their data",
        advice: Do("compare bytes on disk and CPU per operation along with the rates"),
        look: |scene| {
            differ(scene, SystemFacts::is_compressed, |on| {
                if *on { "compresses its data" } else { "does not compress its data" }.to_owned()
            })
        },
    },
    Rule {
        id: "page-size-differs",
        severity: Severity::Note,
        about: "systems that read and write pages of different sizes",
        advice: Do("compare KB per operation, not reads per operation"),
        look: |scene| differ(scene, SystemFacts::page_bytes, |bytes| format!("pages of {bytes} bytes")),
    },
];

//! Rules on integrity of data.

use crate::audit::facts::SystemFacts;
use crate::audit::rule::Advice::{Do, Set};
use crate::audit::rule::{Rule, Severity, differ, each};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "torn-pages-differ",
        severity: Severity::Warning,
        about: "some systems can repair a page that was half written at a power cut, others cannot",
        advice: Set(
            &[
                (SystemFacts::is_innodb, "innodb_doublewrite = ON"),
                (SystemFacts::is_postgres, "full_page_writes = on"),
                (SystemFacts::is_sqlite, "synchronous = FULL"),
            ],
            "",
        ),
        look: |scene| {
            differ(
                scene,
                |system| system.survives_torn_pages().map(|safe| !safe),
                |at_risk| if *at_risk { "cannot repair a half-written page" } else { "can" }.to_owned(),
            )
        },
    },
    Rule {
        id: "torn-pages",
        severity: Severity::Note,
        about: "a system that cannot repair a page that was half written at a power cut",
        advice: Do("say so beside the numbers: the writes that it saves are those of a repair"),
        look: |scene| {
            each(scene, |system| {
                let at_risk = system.survives_torn_pages() == Some(false);
                at_risk.then(|| "cannot repair a page that is half written at a power cut".to_owned())
            })
        },
    },
    Rule {
        id: "checksums-differ",
        severity: Severity::Warning,
        about: "some systems detect damaged pages, others do not",
        advice: Set(
            &[
                (SystemFacts::is_innodb, "innodb_checksum_algorithm = crc32"),
                (SystemFacts::is_postgres, "data_checksums = on"),
            ],
            "",
        ),
        look: |scene| {
            differ(
                scene,
                |system| system.checksum().map(|kind| kind == "none"),
                |none| if *none { "no page checksums" } else { "page checksums" }.to_owned(),
            )
        },
    },
    Rule {
        id: "checksum-kind-differs",
        severity: Severity::Note,
        about: "systems whose page checksums cost differently",
        advice: Do("set innodb_checksum_algorithm = crc32, which all but 5.5 have"),
        look: |scene| {
            // `full_crc32` counts as `crc32`. It also covers the file header, which does not change the cost.
            let cost = |kind: String| if kind == "full_crc32" { "crc32".to_owned() } else { kind };
            let kind = |kind: String| (kind != "none").then(|| cost(kind));
            differ(
                scene,
                |system| if system.is_innodb() { kind(system.checksum()?) } else { None },
                |kind| format!("checksum {kind}"),
            )
        },
    },
];

//! Rules on the work of statements.

use crate::audit::facts::SystemFacts;
use crate::audit::rule::Advice::{Do, Set};
use crate::audit::rule::{Rule, Severity, differ};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "isolation-differs",
        severity: Severity::Warning,
        about: "systems whose transactions are isolated differently",
        advice: Set(
            &[
                (SystemFacts::is_mysqld, "transaction_isolation"),
                (SystemFacts::is_postgres, "default_transaction_isolation"),
            ],
            " alike where all can",
        ),
        look: |scene| differ(scene, SystemFacts::isolation, |level| format!("transactions are {level}")),
    },
    Rule {
        id: "snapshot-isolation-differs",
        severity: Severity::Warning,
        about: "some systems refuse to change a row that changed since the snapshot",
        advice: Do("set innodb_snapshot_isolation = OFF"),
        look: |scene| {
            differ(
                scene,
                |system| if system.is_innodb() { system.is_on("innodb_snapshot_isolation") } else { None },
                |on| {
                    if *on { "a write conflict is an error" } else { "a write conflict is not noticed" }
                        .to_owned()
                },
            )
        },
    },
    Rule {
        id: "character-set-differs",
        severity: Severity::Warning,
        about: "systems that keep text in different character sets",
        advice: Do("set character_set_server and collation_server alike"),
        look: |scene| differ(scene, SystemFacts::character_set, |set| format!("character set {set}")),
    },
    Rule {
        id: "collation-differs",
        severity: Severity::Note,
        about: "systems with one character set that compare and sort its text differently",
        advice: Do("set collation_server alike"),
        look: |scene| {
            let sets = differ(scene, SystemFacts::character_set, String::clone);
            if !sets.is_empty() {
                return Vec::new();
            }
            differ(scene, |system| system.word("collation_server"), |name| format!("collation {name}"))
        },
    },
    Rule {
        id: "sql-mode-differs",
        severity: Severity::Note,
        about: "systems that differ in their strictness with statements",
        advice: Do("set sql_mode alike"),
        look: |scene| differ(scene, |system| system.word("sql_mode"), |mode| format!("sql_mode {mode:?}")),
    },
];

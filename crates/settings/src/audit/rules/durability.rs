//! Rules on durability.

use crate::audit::durability::Durability;
use crate::audit::rule::Advice::Do;
use crate::audit::rule::{Rule, Severity, differ, each};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "commit-differs",
        severity: Severity::Error,
        about: "systems whose commits survive different crashes",
        advice: Do("give all systems the profile `safe`, or all `fast`"),
        look: |scene| {
            let class = |class: Durability| (class != Durability::Unknown).then_some(class);
            differ(
                scene,
                |system| class(system.durability()),
                |class| format!("{} ({class})", class.explain()),
            )
        },
    },
    Rule {
        id: "commit-unknown",
        severity: Severity::Warning,
        about: "a system whose settings do not say which crashes its commits survive",
        advice: Do("compare it only with systems that you know to give the same guarantee"),
        look: |scene| {
            each(scene, |system| {
                let is_unknown = system.durability() == Durability::Unknown;
                is_unknown.then(|| Durability::Unknown.explain().to_owned())
            })
        },
    },
    Rule {
        id: "commit-not-durable",
        severity: Severity::Note,
        about: "a system whose commits do not survive a power cut",
        advice: Do("fine for a study of CPU; say so beside the numbers"),
        look: |scene| {
            each(scene, |system| match system.durability() {
                Durability::Durable | Durability::Unknown => None,
                class => Some(format!("{} ({class})", class.explain())),
            })
        },
    },
    Rule {
        id: "binlog-unsynced",
        severity: Severity::Warning,
        about: "a log that waits for the disk beside a binlog that does not: the commit is not durable",
        advice: Do("set sync_binlog = 1, or log_bin = OFF"),
        look: |scene| {
            each(scene, |system| {
                let engine = if system.is_rocksdb() { "rocksdb" } else { "innodb" };
                let waits =
                    system.word(&format!("{engine}_flush_log_at_trx_commit")).is_some_and(|at| at == "1");
                (waits && system.has_unsynced_binlog()).then(|| {
                    let every = system.value("sync_binlog").unwrap_or_default();
                    format!("syncs its log at each commit, but not its binlog (sync_binlog = {every})")
                })
            })
        },
    },
];

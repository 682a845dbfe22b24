use serde_json::json;

use super::*;
use crate::sample::run;

/// A run whose anchor reports these variables, and the version of its server.
fn anchored(id: i64, variables: &[(&str, &str)]) -> Run {
    let mut run = run(id, &["db", "pinned"]);
    run.record.host = HostRecord {
        cpus: Some(2),
        cpu_model: Some("Xeon".to_owned()),
        kernel: Some(id.to_string()),
        ..HostRecord::default()
    };
    let anchor = &mut run.systems[1];
    anchor.is_anchor = true;
    anchor.engine_version = Some("10.11.14-MariaDB".to_owned());
    anchor.requested_settings = json!({ "innodb_buffer_pool_size": "256M" });
    let fixed = [("version", "10.11.14-MariaDB"), ("version_comment", "mariadb.org binary distribution")];
    anchor.variables = fixed
        .iter()
        .chain(variables)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    run
}

fn names(one: &Run, other: &Run) -> Vec<String> {
    anchor_differences(one, other).into_iter().map(|difference| difference.what).collect()
}

#[test]
fn anchors_are_the_same_by_engine_version_settings_and_host() {
    let same = [("innodb_flush_log_at_trx_commit", "1"), ("port", "3301")];
    let (one, mut other) = (anchored(1, &same), anchored(2, &[same[0], ("port", "3302")]));
    assert_eq!(names(&one, &other), [] as [&str; 0], "kernel and port may differ");
    other.systems[1].requested_settings = json!({ "innodb_buffer_pool_size": "1G" });
    assert_eq!(names(&one, &other), ["innodb_buffer_pool_size"]);
    other = anchored(2, &[("innodb_flush_log_at_trx_commit", "2"), same[1]]);
    assert_eq!(names(&one, &other), ["innodb_flush_log_at_trx_commit"]);
    other = anchored(2, &same);
    other.systems[1].name = "mysql@8.0.33/innodb".to_owned();
    other.record.host.cpus = Some(4);
    other.record.scale = 0.5;
    assert_eq!(names(&one, &other), ["cpus", "scale", "engine"]);
}

#[test]
fn an_anchor_that_never_started_differs_in_nothing_that_it_would_have_reported() {
    let (one, mut other) = (anchored(1, &[("sync_binlog", "1")]), anchored(2, &[]));
    other.systems[1].engine_version = None;
    other.systems[1].variables.clear();
    assert_eq!(names(&one, &other), [] as [&str; 0]);
}

#[test]
fn runs_share_an_anchor_only_if_each_has_one() {
    let (one, other, without) = (anchored(1, &[]), anchored(2, &[]), run(3, &["db"]));
    let shared = SharedAnchor::of(&one, &[&other]).unwrap();
    assert!(shared.is_used() && shared.system == "pinned");
    assert_eq!(SharedAnchor::of(&one, &[&other, &without]), None);
    assert_eq!(SharedAnchor::of(&without, &[&one]), None);
}

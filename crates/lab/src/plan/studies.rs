//! Tests of the built-in studies: their plans and the published figures that they repeat.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use dyno_engine::Catalogue;
use dyno_settings::{Assignment, SettingsError, translate};
use dyno_stats::ROUNDS_MIN;
use dyno_store::{ClaimRecord, Correction};

use super::{Explained, Plan, builtin_plans};
use crate::records;

/// A row of a file in `reference/`. Values are found by the names in the header.
struct Published {
    header: Vec<String>,
    values: Vec<String>,
}

impl Published {
    fn get(&self, column: &str) -> &str {
        let at = self.header.iter().position(|name| name == column);
        &self.values[at.unwrap_or_else(|| panic!("no column {column}"))]
    }
}

fn published(study: &str) -> Vec<Published> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference").join(format!("{study}.csv"));
    let text = fs::read_to_string(path).unwrap();
    let split = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let header = split(lines.next().unwrap());
    lines.map(|line| Published { header: header.clone(), values: split(line) }).collect()
}

fn plan(name: &str) -> Plan {
    Plan::find(name, &Catalogue::builtin()).unwrap()
}

#[test]
fn every_claim_can_be_read_and_is_about_its_plan() {
    for builtin in builtin_plans() {
        let plan = plan(builtin.name);
        let systems: Vec<_> = (0..plan.systems.len()).map(|at| records::system(&plan, at)).collect();
        let steps = records::steps(&plan);
        for ClaimRecord { id, expression, .. } in &plan.claims {
            let claim = dyno_judge::Claim::parse(expression);
            let checked = claim.and_then(|claim| claim.check(&systems, &steps));
            assert_eq!(checked, Ok(()), "{}: {id}: {expression}", builtin.name);
        }
    }
}

/// A setting may have different names in different versions, and names are translated only in a profile. So each
/// system's settings must be known to its version. The plan `redo-and-defaults` is left out, because it gives one
/// `my.cnf` to all versions without changes.
#[test]
fn systems_of_studies_know_their_settings() {
    for builtin in builtin_plans().iter().filter(|builtin| builtin.name != "redo-and-defaults") {
        for system in plan(builtin.name).systems {
            let Some(product) = system.product() else { continue };
            for (name, value) in &system.settings {
                let assignment = Assignment { value: value.clone(), ..Assignment::default() };
                let of_version = match translate(&product, &BTreeMap::from([(name.clone(), assignment)])) {
                    Ok(translation) => translation.settings.contains_key(name),
                    Err(error) => !matches!(error, SettingsError::NotInVersion { .. }),
                };
                assert!(of_version, "{}: {}: {name}", builtin.name, system.id);
            }
        }
    }
}

#[test]
fn the_claims_of_versions_have_the_figures_of_the_post() {
    let (plan, rows) = (plan("inmem-versions"), published("inmem-versions"));
    for claim in &plan.claims {
        let figure = claim.published.unwrap_or_else(|| panic!("{} has a published figure", claim.id));
        let source = claim.source.as_deref().unwrap();
        let row = rows.iter().find(|row| {
            let names = format!("{}, {}", row.get("quantity"), row.get("test"));
            let about = claim.expression.split_once(", mysql-5.6, ").unwrap().1;
            // The name of the test is followed by `)`. In a claim about a load, it is followed by a comma and the
            // number of clients.
            let is_about = about.strip_prefix(&names).is_some_and(|rest| rest.starts_with([',', ')']));
            is_about && source.contains(&format!("MySQL {} against {}", row.get("version"), row.get("base")))
        });
        let row = row.unwrap_or_else(|| panic!("{} is in the reference file", claim.id));
        assert_eq!(row.get("ratio").parse(), Ok(figure), "{}", claim.id);
    }
    for row in rows.iter().filter(|row| row.get("version") == "8.0.22" && row.get("quantity") == "throughput")
    {
        let id = format!("8.0.{}", row.get("test"));
        assert!(plan.claims.iter().any(|claim| claim.id == id), "{id} is claimed");
    }
}

#[test]
fn the_claims_of_cloud_costs_have_the_figures_of_the_post() {
    let (plan, rows) = (plan("cloud-cost"), published("cloud-cost"));
    let rate = |cache: &str, volume: &str, iops: &str, engine: &str| {
        let wanted = [("cache_gb", cache), ("volume", volume), ("iops", iops), ("engine", engine)];
        let row = rows.iter().find(|row| wanted.iter().all(|(column, value)| row.get(column) == *value));
        row.unwrap().get("transactions_per_second").parse::<f64>().unwrap()
    };
    for row in rows.iter().filter(|row| row.get("engine") == "rocksdb") {
        let [cache, volume, iops] = ["cache_gb", "volume", "iops"].map(|column| row.get(column));
        let id = format!("faster.{cache}.{volume}.{iops}");
        let claim =
            plan.claims.iter().find(|claim| claim.id == id).unwrap_or_else(|| panic!("{id} is claimed"));
        let ratio = rate(cache, volume, iops, "rocksdb") / rate(cache, volume, iops, "innodb");
        assert!((claim.published.unwrap() - ratio).abs() < 5e-4, "{id}: {ratio}");
    }
    let third = plan.claims.iter().find(|claim| claim.id == "third-of-iops").unwrap().published.unwrap();
    let ratio = rate("27", "io1", "5000", "rocksdb") / rate("27", "io1", "15000", "innodb");
    assert!((third - ratio).abs() < 5e-4, "{ratio}");
}

#[test]
fn the_claims_of_engines_are_those_of_the_post() {
    let (plan, rows) = (plan("inmem-engines"), published("inmem-engines"));
    let mut claimed = BTreeSet::new();
    for row in &rows {
        let id = format!("{}.{}.{}", row.get("candidate"), row.get("test"), row.get("clients"));
        let claim = plan.claims.iter().find(|claim| claim.id == id);
        let claim = claim.unwrap_or_else(|| panic!("{id} is claimed"));
        let relation = if row.get("ratio_is") == "below" { '<' } else { '>' };
        let [candidate, base, test, clients] =
            ["candidate", "base", "test", "clients"].map(|column| row.get(column));
        let expected = format!("ratio({candidate}, {base}, throughput, {test}, {clients}) {relation} 1");
        assert_eq!(claim.expression, expected);
        assert_eq!(claim.published, row.get("ratio_up_to").parse().ok(), "{id}");
        claimed.insert(id);
    }
    let others = plan.claims.iter().filter(|claim| !claimed.contains(&claim.id));
    assert!(others.into_iter().all(|claim| claim.published.is_none()), "a figure needs its row");
}

/// Returns the name that a blog post gives to a configuration. The plan `io-bound-updates` repeats the measurements of
/// this post. Also returns the configuration's thread concurrency.
fn post_s_configuration(system: &str) -> (String, &str) {
    let (system, concurrency) = system.rsplit_once(".itc-").unwrap();
    let name = match system.strip_prefix("mysql-5.6.24.bpi-") {
        None => "orig5163".to_owned(),
        Some(swept) => {
            let (instances, depth) = swept.split_once(".lru-").unwrap();
            let depth = match depth {
                "1000" => String::new(),
                depth => format!("+lru{}k", depth.strip_suffix("000").unwrap()),
            };
            format!("orig5610+bp{instances}{depth}")
        }
    };
    (name, concurrency)
}

#[test]
fn the_claims_of_updates_have_the_figures_of_the_post() {
    let (plan, rows) = (plan("io-bound-updates"), published("io-bound-updates"));
    let figure = |system: &str, clients: &str| -> f64 {
        let (configuration, concurrency) = post_s_configuration(system);
        let wanted =
            [("configuration", &*configuration), ("thread_concurrency", concurrency), ("clients", clients)];
        let row = rows.iter().find(|row| wanted.iter().all(|(column, value)| row.get(column) == *value));
        row.unwrap_or_else(|| panic!("{wanted:?}")).get("updates_per_second").parse().unwrap()
    };
    assert!(plan.claims.len() > 20);
    for claim in &plan.claims {
        let inside = claim.expression.split_once("ratio(").unwrap().1.split_once(')').unwrap().0;
        let [candidate, base, "throughput", "update-one", clients] =
            inside.split(", ").collect::<Vec<_>>()[..]
        else {
            panic!("{}", claim.expression);
        };
        let ratio = figure(candidate, clients) / figure(base, clients);
        let published = claim.published.unwrap();
        assert!((ratio - published).abs() < 0.0006, "{}: {ratio}, not {published}", claim.id);
        let is_above = claim.expression.ends_with("> 1");
        let is_alike = claim.expression.ends_with("< 1.1");
        assert!(is_alike || is_above == (ratio > 1.0), "{}: {}", claim.id, claim.expression);
    }
}

/// Returns the selects per second that the blog post reports for these numbers of readers and writers. If `readers` is
/// empty, the figure is the best of all numbers of readers.
fn selects(workload: &str, server: &str, readers: &str, writers: &str) -> f64 {
    let rows = published("trx-list");
    let is_it = |row: &&Published| {
        ["workload", "server", "readers", "writers"].map(|column| row.get(column))
            == [workload, server, readers, writers]
    };
    let row = rows.iter().find(is_it).unwrap_or_else(|| panic!("{workload} {server} {readers} {writers}"));
    row.get("selects_per_second").parse().unwrap()
}

#[test]
fn the_claims_of_joining_writers_have_the_figures_of_the_post() {
    let plan = plan("trx-list");
    let mixed = |server, writers| selects("mixed", server, "64", writers);
    let expected = [
        (
            "5.6-faster.64",
            selects("select", "mysql-5.6", "", "0") / selects("select", "percona-5.5", "", "0"),
        ),
        ("5.6-faster.readers-alone", mixed("mysql-5.6", "0") / mixed("percona-5.5", "0")),
        ("writers-cost-5.5", mixed("percona-5.5", "128") / mixed("percona-5.5", "0")),
        ("writers-cost-5.6", mixed("mysql-5.6", "128") / mixed("mysql-5.6", "0")),
        ("same-with-128-writers", mixed("mysql-5.6", "128") / mixed("percona-5.5", "128")),
    ];
    let figures = plan.claims.iter().filter_map(|claim| Some((claim.id.as_str(), claim.published?)));
    let figures: Vec<(&str, f64)> = figures.collect();
    assert_eq!(figures.len(), expected.len(), "a figure needs its rows");
    for ((id, figure), (expected_id, expected)) in figures.into_iter().zip(expected) {
        assert_eq!(id, expected_id);
        assert!((figure - expected).abs() < 0.0005, "{id}: {expected}");
    }
}

#[test]
fn writers_join_at_every_number_of_the_post_and_read_only_transactions_are_not_asked_of_5_5() {
    let plan = plan("trx-list");
    let step = |id: &str| plan.steps.iter().find(|step| step.id == id).unwrap();
    let joins = &step("mixed").background[0].joins;
    assert_eq!(joins.iter().map(|join| join.clients).collect::<Vec<_>>(), [4, 8, 16, 32, 64, 128]);
    assert_eq!(step("select.read-only").not_for, ["mysql-5.5.server_cpus-0-1", "mysql-5.5.server_cpus-0"]);
    let scale = plan.scale_of("small").unwrap();
    let small = plan.scaled(&scale);
    let joins = &small.steps.iter().find(|step| step.id == "mixed").unwrap().background[0].joins;
    assert!(joins.windows(2).all(|pair| pair[1].at_seconds - pair[0].at_seconds > 3.0), "{joins:?}");
}

#[test]
fn the_claims_of_safe_settings_are_those_of_the_post() {
    let (plan, rows) = (plan("safe-settings"), published("safe-settings"));
    let published = plan.claims.iter().filter_map(|claim| Some((claim.id.as_str(), claim.published?)));
    let of_rows = rows.iter().filter(|row| !row.get("claim").is_empty());
    let expected: Vec<(&str, f64)> =
        of_rows.map(|row| (row.get("claim"), row.get("value").parse().unwrap())).collect();
    assert_eq!(published.collect::<Vec<_>>(), expected);
    let cannot_be_had = rows.iter().filter(|row| row.get("claim").is_empty());
    assert!(
        cannot_be_had.into_iter().all(|row| {
            row.get("server").contains("5.7") || row.get("quantity").ends_with("_mb_per_second")
        })
    );
}

#[test]
fn safe_settings_climbs_from_fast_to_safe_one_promise_at_a_time() {
    let plan = plan("safe-settings");
    let of_mysql =
        ["fast", "checksums", "doublewrite", "flush", "binlog", "sync-binlog", "performance-schema"];
    for engine in ["mysql-5.6", "mysql-8.0", "mysql-9.7"] {
        let ladder = plan.ladders.iter().find(|ladder| ladder.id == engine).unwrap();
        assert_eq!(ladder.systems, of_mysql.map(|rung| format!("{engine}.{rung}")));
    }
    let in_ladders: usize = plan.ladders.iter().map(|ladder| ladder.systems.len()).sum();
    assert_eq!((plan.ladders.len(), in_ladders), (8, plan.systems.len()));
    assert!(plan.correction == Correction::MaxT && plan.rounds.max() as usize >= ROUNDS_MIN);
}

/// In the plan `redo-and-defaults`, the systems `*.shared` all have the settings of one file.
#[test]
fn one_my_cnf_is_given_to_every_server() {
    let plan = plan("redo-and-defaults");
    let shared: Vec<_> = plan.systems.iter().filter(|system| system.id.ends_with(".shared")).collect();
    assert_eq!(shared.len(), 5);
    let file = |settings: &BTreeMap<String, String>| -> BTreeMap<String, String> {
        let without_prefix =
            |(name, value): (&String, &String)| (name.trim_start_matches("loose_").to_owned(), value.clone());
        settings.iter().map(without_prefix).collect()
    };
    assert!(shared.iter().all(|system| file(&system.settings) == file(&shared[0].settings)));
    assert_eq!(shared[0].settings["innodb_log_files_in_group"], "2");
    // At the small scale, the settings for the size of a log file are also equal. MariaDB has only one log file, so its
    // log has half the size of MySQL's.
    let scale = plan.scale_of("small").unwrap();
    let small = plan.scaled(&scale);
    let size = |id: &str| {
        let system = small.systems.iter().find(|system| system.id == id).unwrap();
        system.settings["innodb_log_file_size"].clone()
    };
    assert_eq!(size("mysql-5.6.shared"), size("mariadb-11.8.shared"));
    assert_eq!(size("mariadb-11.8.shared"), "131072k");
    assert_eq!(size("mariadb-11.8.redo"), "262144k");
}

#[test]
fn the_claims_of_index_condition_pushdown_have_the_figures_of_the_post() {
    let (plan, rows) = (plan("icp"), published("icp"));
    let figure = |quantity: &str, server: &str| -> f64 {
        let row = rows.iter().find(|row| row.get("quantity") == quantity).unwrap();
        row.get(server).parse().unwrap()
    };
    let without_to_with = |quantity: &str| figure(quantity, "mysql_5_5") / figure(quantity, "mysql_5_6");
    let expected = [
        ("rows-of-the-index", without_to_with("Handler_read_next"), 0.5),
        // The blog post rounds the ratio 19.0 down, so the tolerance is larger here.
        ("pages-read", without_to_with("Innodb_buffer_pool_reads"), 1.0),
        ("bytes-read", without_to_with("Innodb_data_read_gib"), 0.05),
        ("time-cold", without_to_with("minutes_cold"), 0.0),
        ("time-warm", 1.0 / without_to_with("speedup_warm_up_to"), 0.0),
        ("lookups-alike", without_to_with("Handler_read_key"), 0.01),
        (
            "mariadb-match",
            figure("Handler_read_next", "mariadb_5_5") / figure("Handler_read_next", "mysql_5_6"),
            0.01,
        ),
    ];
    let figures = plan.claims.iter().filter_map(|claim| Some((claim.id.as_str(), claim.published?)));
    let figures: Vec<(&str, f64)> = figures.collect();
    assert_eq!(figures.len(), expected.len(), "a figure needs its rows");
    for ((id, figure), (expected_id, expected, rounded)) in figures.into_iter().zip(expected) {
        assert_eq!(id, expected_id);
        assert!((figure - expected).abs() <= rounded, "{id}: {expected}");
    }
}

#[test]
fn all_queries_of_tpch_are_in_their_suite_and_scale_with_it() {
    let plan = plan("tpch");
    let queries: Vec<&str> =
        plan.steps.iter().filter_map(|step| step.options.get("query").map(String::as_str)).collect();
    assert_eq!(queries, (1..=22).map(|query| query.to_string()).collect::<Vec<_>>());
    assert!(
        plan.steps
            .iter()
            .skip(1)
            .all(|step| step.queries.answers && step.queries.explain == Explained::Query)
    );
    let scale = plan.scale_of("small").unwrap();
    let small = plan.scaled(&scale);
    assert!(small.steps.iter().all(|step| step.options["scale_factor"] == "0.05"));
}

#[test]
fn the_microbenchmarks_go_through_five_groups_in_order() {
    let plan = plan("inmem-versions");
    let mut groups: Vec<&str> = plan.steps.iter().map(|step| step.group.as_str()).collect();
    groups.dedup();
    assert_eq!(groups, ["load", "read-only before", "write-heavy", "read-only after", "insert/delete"]);
    let before: Vec<&str> = plan.steps.iter().filter_map(|step| step.id.strip_suffix(".pre")).collect();
    assert!(before.len() >= 4);
    for id in before {
        let pair = [format!("{id}.pre"), id.to_owned()];
        let [pre, post] = pair.map(|id| plan.steps.iter().find(|step| step.id == id).expect("a pair"));
        assert_eq!((&pre.script.name, &pre.options), (&post.script.name, &post.options));
    }
    let drained: Vec<&str> =
        plan.steps.iter().filter(|step| step.drain).map(|step| step.id.as_str()).collect();
    assert_eq!(drained, ["load", "read-write.range100"]);
}

/// Returns the time in which systems are under load, in seconds. Measured loads and restarts are not included.
fn loaded_seconds(plan: &Plan) -> f64 {
    let runs = plan.steps.iter().filter(|step| !step.is_load());
    let round: f64 = runs
        .map(|step| {
            let systems = plan.systems.iter().filter(|system| step.is_for(&system.id)).count();
            let seconds = step.warmup_seconds.max(step.warmup_seconds_max) + step.seconds;
            (systems * step.clients.len()) as f64 * seconds
        })
        .sum();
    round * f64::from(plan.rounds.max())
}

#[test]
fn studies_take_no_longer_than_they_say() {
    let minutes = |name: &str, scale: Option<&str>, clients: &[u32]| {
        let mut plan = plan(name);
        if let Some(scale) = scale {
            let scale = plan.scale_of(scale).unwrap();
            plan = plan.scaled(&scale);
        }
        plan.keep_clients(clients);
        loaded_seconds(&plan) / 60.0
    };
    assert!(minutes("quickstart", None, &[]) < 0.5);
    assert!(minutes("first-look", None, &[]) < 8.0);
    assert!(minutes("dive-limit", Some("small"), &[]) < 8.0);
    assert!(minutes("inmem-versions", Some("small"), &[1]) < 22.0);
    assert!(minutes("trx-list", Some("small"), &[]) < 31.0);
    assert!(minutes("safe-settings", Some("small"), &[]) < 22.0);
    assert!(minutes("icp", Some("small"), &[]) < 26.0);
    assert!(minutes("insert-benchmark", Some("small"), &[]) < 24.0);
    assert!(minutes("redo-and-defaults", Some("small"), &[]) < 25.0);
    assert!(minutes("ddl-and-backup", Some("small"), &[]) < 30.0);
}

/// With max-T, the lowest number of rounds that allows a verdict is enough for any number of tests.
#[test]
fn rounds_are_enough_for_a_verdict_on_every_test() {
    for (name, tests) in [("quickstart", 11), ("first-look", 11), ("dive-limit", 6)] {
        let plan = plan(name);
        let blocks = |step: &super::Step| step.clients.len();
        let judged = plan.steps.iter().filter(|it| !it.is_load() || plan.load_every_round);
        assert_eq!(judged.map(blocks).sum::<usize>(), tests, "{name}");
        assert!(plan.correction == Correction::MaxT && plan.rounds.max() as usize >= ROUNDS_MIN, "{name}");
    }
}

//! `dyno explain` on real servers. A script makes some servers slower if a setting has a value, so that the
//! results do not depend on timing.

use dyno_engine::Installation;
use dyno_engine::testing::{confined, installation, with_engine};
use dyno_host::{Confinement, CpuSet};
use dyno_testing::{Trial, dyno_test};
use serde_json::Value;

use crate::bench::{Bench, Ended, finish, press_ctrl_c, unwrapped};

const MARIADB: &str = "mariadb@10.11";
const MYSQL: &str = "mysql@5.6.24";
const OLDER: &str = "mysql@5.6.14";
const NEWER: &str = "mysql@9.7.4";

/// A plan with a step at a fixed rate, which a quick statement reaches easily and a slow statement cannot reach.
/// `settings` are the settings of the system `new`.
fn plan(engines: [&str; 2], settings: &str, slow_if: &str) -> String {
    let [old, new] = engines;
    // A profile sets the size of the log by the variable that the version has, and the newer version has another
    // variable than the older one. If the profile set the size, one more setting would differ.
    let profile = if engines.contains(&NEWER) { "lean-with-stock-log.toml" } else { "lean.toml" };
    format!(
        "name = 'planted'\ntitle = 'A planted cause'\nbase = 'old'\nrounds = 6\n\
         clients = [1]\nseconds = 1.2\nwarmup_seconds = 0.2\nrest_seconds_max = 0\nprofile = '{profile}'\n\
         [[system]]\nid = 'old'\nengine = '{old}'\n\
         [[system]]\nid = 'new'\nengine = '{new}'\nsettings = {{ {settings} }}\n\
         [[step]]\nid = 'load'\ngroup = 'load'\ncommand = 'prepare'\nworkload = 'slow_if.lua'\noperation = 'row'\n\
         [[step]]\nid = 'answer'\ngroup = 'reads'\nworkload = 'slow_if.lua'\noperation = 'transaction'\n\
         rate = 100\nspacing = 'constant'\noptions = {{ slow_if = \"{slow_if}\" }}\n"
    )
}

/// Runs the plan that [`plan`] makes.
fn measured(engines: [&str; 2], settings: &str, slow_if: &str) -> Bench {
    run(&plan(engines, settings, slow_if))
}

fn run(plan: &str) -> Bench {
    let bench = Bench::new();
    bench.write_lean_profiles();
    bench.write("slow_if.lua", include_str!("slow_if.lua"));
    bench.write("plan.toml", plan);
    bench.dyno(&["run", "plan.toml", "--no-html"]).with(0);
    bench
}

const PROVE: [&str; 6] = ["explain", "1", "--prove", "--test=answer", "--rounds", "4"];

/// Proves the difference in the step `answer`. If the output does not contain all of `words`, the proof is repeated with
/// more rounds, because on a busy host a comparison of four rounds may be undecided. Returns the command that succeeded,
/// and its output.
fn prove<'a>(bench: &Bench, options: &[&'a str], words: &[&str]) -> (Vec<&'a str>, Ended) {
    let attempts = ["4", "8", "16"].map(|rounds| {
        let [command @ .., _] = PROVE;
        [&command[..], &[rounds], options].concat()
    });
    let mut outputs = Vec::new();
    for command in attempts {
        let proven = bench.dyno(&command).with(0);
        if words.iter().all(|words| unwrapped(&proven.stdout).contains(words)) {
            return (command, proven);
        }
        outputs.push(format!("{command:?}: {}{}", proven.stdout, proven.stderr));
    }
    panic!("{words:?}: {}", outputs.concat());
}

#[dyno_test(with_engine(MARIADB))]
fn a_planted_setting_is_named_and_proven() {
    let settings =
        "query_cache_type = 1, sort_buffer_size = '4M', join_buffer_size = '1M', wait_timeout = 1000";
    let bench = measured([MARIADB, MARIADB], settings, "@@query_cache_type = 'ON'");
    let explained = bench.dyno(&["explain"]).with(0);
    for words in [
        "times as many operations (transaction) a second as old: slower.",
        "query_cache_type affects what changed",
        "Qcache_hits",
        "- query_cache_type: OFF → ON",
    ] {
        assert!(unwrapped(&explained.stdout).contains(words), "{words}: {}", explained.stdout);
    }
    for noise in ["Uptime", "Com_show_status"] {
        assert!(!explained.stdout.contains(noise), "{noise}: {}", explained.stdout);
    }
    let json = bench.dyno(&["explain", "1", "new", "--format", "json"]);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json[0]["settings"][0]["name"], "query_cache_type", "{json}");
    assert_eq!(json[0]["settings"].as_array().unwrap().len(), 4, "{json}");
    assert_eq!(
        in_report(
            &bench,
            "Not proven: `dyno explain 1 new --test answer --clients 1 --prove --results dyno.db`"
        ),
        1
    );
    proven_although_stopped(&bench);
    assert_eq!(in_report(&bench, "query_cache_type = 1 alone: 0."), 1, "the report finds the proof");
    assert_eq!(in_report(&bench, "Not proven"), 0);
}

/// The number of times that the report of the first run contains the words.
fn in_report(bench: &Bench, words: &str) -> usize {
    let report = bench.dyno(&["report", "1", "--full"]).with(0);
    unwrapped(&report.stdout).matches(words).count()
}

/// The evidence names the cause, so three comparisons suffice. The comparison that ^C stopped is resumed.
fn proven_although_stopped(bench: &Bench) {
    let trials = bench.count("trial");
    let stopped = bench.start_until(&PROVE, trials + 2);
    press_ctrl_c(&stopped);
    let stopped = finish(stopped).with(130);
    assert!(stopped.stdout.contains("Nothing was compared yet."), "{}", stopped.stdout);
    let words = ["query_cache_type = 1 alone: 0.", "everything else together: ", "Proven by 3 probes in "];
    let (command, proven) = prove(bench, &[], &words);
    let runs = bench.count("run");
    assert!(command != PROVE || runs == 1 + 3, "{runs}: {}", proven.stderr);
    let again = bench.dyno(&command).with(0);
    assert!(words.iter().all(|words| unwrapped(&again.stdout).contains(words)), "{}", again.stdout);
    assert_eq!(bench.count("run"), runs, "a second start measures nothing again");
    assert!(bench.processes().is_empty() && bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

/// MySQL 5.6 does not start with GTIDs unless the binary log is on. So the server does not start in a probe that has
/// only some of the settings.
#[dyno_test(with_engine(MYSQL))]
fn settings_that_a_server_refuses_are_passed_by() {
    let settings = "sort_buffer_size = '4M', join_buffer_size = '1M', log_bin = 'ON', gtid_mode = 'ON', \
                    enforce_gtid_consistency = 'ON', log_slave_updates = 'ON'";
    let bench = measured([MYSQL, MYSQL], settings, "@@sort_buffer_size = 4194304");
    let (_, proven) = prove(&bench, &["--format", "json"], &["\"ending\": \"proven\""]);
    let json: Value = serde_json::from_str(&proven.stdout).unwrap();
    let causes = json["proof"]["causes"].as_array().unwrap();
    assert_eq!(causes.len(), 1);
    let cause = causes[0]["changes"][0].as_u64().unwrap() as usize;
    assert_eq!(json["changes"][cause]["settings"][0]["name"], "sort_buffer_size");
    let probes = json["probes"].as_array().unwrap();
    let refused =
        |probe: &&Value| probe["refused"].as_str().is_some_and(|why| why.starts_with("did not start: "));
    assert!(probes.iter().any(|probe| refused(&probe)), "{}", proven.stdout);
    let last_round_without_a_server = "SELECT max(round) FROM trial WHERE run_id IN
        (SELECT run_id FROM trial WHERE message LIKE 'did not start: %')";
    assert_eq!(
        bench.value(last_round_without_a_server),
        Some(0),
        "there is nothing to compare in a second round"
    );
    assert!(bench.processes().is_empty());
}

#[dyno_test(with_engine(OLDER))]
fn a_version_s_difference_is_not_blamed_on_settings() {
    installation(MYSQL).unwrap();
    let bench = measured([OLDER, MYSQL], "sort_buffer_size = '4M'", "@@version LIKE '5.6.24%'");
    only_the_engine(&bench, [OLDER, MYSQL]);
}

/// The older version does not start with a setting that only the newer version has.
#[dyno_test(with_engine(MYSQL))]
fn what_one_version_does_not_have_is_left_out() {
    installation(NEWER).unwrap();
    let settings = "sort_buffer_size = '4M', innodb_redo_log_capacity = '128M'";
    let bench = measured([MYSQL, NEWER], settings, "@@version LIKE '9.7.%'");
    only_the_engine(&bench, [MYSQL, NEWER]);
}

fn only_the_engine(bench: &Bench, [old, new]: [&str; 2]) {
    let remains = format!("what remains is the engine ({old} and {new}): 0.");
    prove(bench, &[], &["No setting explains the difference: together they make ", &remains]);
}

/// A maker of tests that leave MariaDB only one of several CPUs. On a host with one CPU, there is no smaller set of
/// CPUs, so there is no test.
fn with_several_cpus(name: &str, test: fn(&Installation, &'static str)) -> Vec<Trial> {
    if first_of_several_cpus().is_none() {
        return Vec::new();
    }
    confined(&[MARIADB], on_one_cpu)(name, test)
}

fn on_one_cpu() -> Confinement {
    let cpu = first_of_several_cpus().and_then(|cpu| cpu.parse().ok());
    Confinement { server_cpus: cpu, ..Confinement::default() }
}

/// The lowest of this process's CPUs. `None` if it has only one.
fn first_of_several_cpus() -> Option<String> {
    let cpus = CpuSet::allowed().filter(|cpus| cpus.count() > 1)?;
    cpus.to_string().split(['-', ',']).next().map(str::to_owned)
}

const INNOCENT: &str = "sort_buffer_size = '4M', join_buffer_size = '1M', wait_timeout = 1000";

/// The cause is a set of CPUs: a server counts its CPUs to determine the size of its thread pool.
#[dyno_test(with_several_cpus)]
fn a_smaller_set_of_cpus_is_proven(_: &Installation, _: &'static str) {
    let cpu = first_of_several_cpus().expect("the maker found several");
    let text = plan([MARIADB, MARIADB], INNOCENT, "@@thread_pool_size = 1");
    let confinement = format!("wait_timeout = 1000 }}\nconfinement = {{ server_cpus = '{cpu}' }}");
    let bench = run(&text.replace("wait_timeout = 1000 }", &confinement));
    let explained = bench.dyno(&["explain", "1", "new"]).with(0);
    let told = format!("confinement.server_cpus: none → {cpu} (the CPUs that the server may use)");
    assert!(unwrapped(&explained.stdout).contains(&told), "{}", explained.stdout);
    proven(&bench, &format!("confinement.server_cpus = {cpu} alone: 0."));
    let confined =
        "SELECT count(DISTINCT run_id) FROM system WHERE id = 'old.changed' AND confinement IS NOT NULL";
    assert!(bench.value::<usize>(confined).unwrap() >= 1);
}

/// The cause is a step that changes the table, and that only `new` runs.
#[dyno_test(with_engine(MARIADB))]
fn a_step_of_one_system_is_proven() {
    let text = plan([MARIADB, MARIADB], INNOCENT, "(SELECT v FROM answer) = 43");
    let step = "[[step]]\nid = 'age'\ngroup = 'age'\nworkload = 'age.lua'\noperation = 'query'\nevents = 1\n\
                not_for = ['old']\n[[step]]\nid = 'answer'";
    let bench = Bench::new();
    bench.write_lean_profiles();
    bench.write("slow_if.lua", include_str!("slow_if.lua"));
    bench.write("age.lua", include_str!("age.lua"));
    bench.write("plan.toml", &text.replace("[[step]]\nid = 'answer'", step));
    bench.dyno(&["run", "plan.toml", "--no-html"]).with(0);
    proven(&bench, "the step age alone: 0.");
    let trials = |system: &str| {
        bench.value::<i64>(&format!(
            "SELECT count(*) FROM trial WHERE step_id = 'age' AND system_id = '{system}'"
        ))
    };
    assert_eq!(trials("old"), Some(0));
    assert!(trials("old.changed") >= Some(4), "the base with the step has run it in each round");
}

/// Proves the difference in the step `answer`. The proof must explain the whole difference, and contain `words`,
/// which name the cause.
fn proven(bench: &Bench, words: &str) {
    prove(bench, &[], &[words, "everything else together: ", "Proven by "]);
    assert!(bench.processes().is_empty() && bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

#[dyno_test]
fn what_is_not_there_is_told() {
    let bench = Bench::new();
    bench.write("plan.toml", &crate::bench::sqlite_plan(0.1));
    bench.dyno(&["run", "plan.toml", "--no-html"]).with(0);
    for (arguments, words) in [
        (&["explain", "1", "rolback"][..], "run 1 has no system rolback; it has: "),
        (&["explain", "--test", "nope"], "run 1 has no step nope; it has: "),
        (&["explain", "2"], "2"),
    ] {
        let ended = bench.dyno(arguments).with(1);
        assert!(ended.stderr.contains(words) && ended.stderr.lines().count() == 1, "{}", ended.stderr);
    }
    // Two rounds decide nothing, so there is nothing to explain. This is a valid answer and no error.
    let nothing = bench.dyno(&["explain"]).with(0);
    assert!(
        nothing.stdout.starts_with("Nothing to explain: no requested test of run 1"),
        "{}",
        nothing.stdout
    );
    assert_eq!(nothing.stderr, "");
    assert_eq!(bench.dyno(&["explain", "--format", "json"]).with(0).stdout, "[]\n");
    let unproven = bench.dyno(&["explain", "--prove"]).with(1);
    assert!(unproven.stderr.starts_with("error: nothing to prove: "), "{}", unproven.stderr);
    let wrong = bench.dyno(&["explain", "--budget", "10m"]);
    assert_eq!(wrong.status, Some(2), "a budget is for --prove: {}", wrong.stderr);
}

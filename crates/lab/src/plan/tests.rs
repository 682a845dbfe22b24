//! What plans may contain, and how errors show where a plan is wrong.

mod background;
mod effects;
mod find;
mod ladders;
mod mistakes;
mod rounds;
mod sweeps;

use std::fs;

use dyno_engine::Catalogue;
use dyno_load::{Rate, RatePoint, Spacing};
use dyno_store::Operation;

use super::testing::{TEXT, parse, plan};
use super::{Command, Data, KeepCoresAwake, Measure, Plan, Rounds};

/// Replaces one text in [`TEXT`], and returns the error as a user sees it.
fn error_of(old: &str, new: &str) -> String {
    assert!(TEXT.contains(old), "{old}");
    parse(&TEXT.replacen(old, new, 1)).unwrap_err().to_string()
}

/// Returns the first line of the error of [`error_of`].
fn first_line_of(old: &str, new: &str) -> String {
    error_of(old, new).lines().next().unwrap().to_owned()
}

#[test]
fn a_plan_says_what_its_file_says() {
    let plan = plan();
    assert_eq!((plan.name.as_str(), plan.title.as_str()), ("small", "A small plan"));
    assert_eq!((plan.base, plan.rounds), (0, Rounds::Fixed(4)));
    assert_eq!(plan.data, Some(Data { tables: 2, rows: 100 }));
    assert_eq!(plan.text, TEXT);

    assert_eq!(plan.systems[1].source.name(), "mariadb@10.11/rocksdb");
    assert_eq!(plan.systems[0].settings["innodb_buffer_pool_size"], "64M");
    assert_eq!(plan.systems[0].settings["innodb_doublewrite"], "1");
    assert!(plan.systems[1].settings.is_empty());

    let step = &plan.steps[1];
    assert_eq!((step.command(), step.operation), (Command::Run, Operation::Transaction));
    assert_eq!((step.seconds, step.warmup_seconds, step.clients.as_slice()), (2.0, 0.5, [1, 4].as_slice()));
    assert_eq!(step.options["skip_trx"], "true");
    assert!(step.script.source.contains("event"));
    assert_eq!(plan.steps[0].measure, Measure::Load);
}

#[test]
fn a_step_may_have_a_pace_of_its_own() {
    let own = "operation = \"transaction\"\nclients = [16]\nseconds = 60\nwarmup_seconds = 0";
    let plan = parse(&TEXT.replace("operation = \"transaction\"", own)).unwrap();
    assert_eq!(plan.steps[1].clients, [16]);
    assert_eq!((plan.steps[1].seconds, plan.steps[1].warmup_seconds), (60.0, 0.0));
    assert_eq!(plan.steps[0].clients, [1, 4]);
}

#[test]
fn a_step_has_a_group_and_an_operation_unless_it_says_otherwise() {
    let text = TEXT
        .replace("group = \"load\"\n", "")
        .replace("operation = \"row\"\n", "")
        .replace("group = \"write-heavy\"\n", "")
        .replace("operation = \"transaction\"\n", "");
    let background = "[[step.background]]\nid = \"readers\"\nworkload = \"oltp_point_select\"\nclients = 2\n";
    let steps = parse(&(text + background)).unwrap().steps;
    let said: Vec<_> = steps.iter().map(|step| (step.group.as_str(), step.operation)).collect();
    assert_eq!(said, [("load", Operation::Row), ("tests", Operation::Transaction)]);
    assert_eq!(steps[1].background[0].operation, Operation::Transaction);
}

#[test]
fn a_workload_may_be_a_file_beside_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.lua"), "function event() end").unwrap();
    let file = folder.path().join("plan.toml");
    fs::write(&file, TEXT.replace("\"oltp_read_write\"", "\"mine.lua\"")).unwrap();
    let plan = Plan::read(&file, &Catalogue::builtin()).unwrap();
    assert_eq!(plan.steps[0].script.source, "function event() end");
    assert_eq!(plan.steps[0].script.search_path, [folder.path()]);
    assert_eq!(plan.files.first(), Some(&folder.path().join("mine.lua")));
}

#[test]
fn a_workload_may_be_scripts_of_pgbench() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("a.pgbench", "SELECT 1;");
    write("b.pgbench", "SELECT 2;");
    write("wrong.pgbench", "SELECT 1;\n\\set a 1 +");
    let plan = |workload: &str| {
        write("plan.toml", &TEXT.replace("oltp_read_write", workload));
        Plan::read(&folder.path().join("plan.toml"), &Catalogue::builtin())
    };
    let read = plan("a.pgbench@3, b.pgbench").unwrap();
    let script = &read.steps[0].script;
    assert_eq!(script.name, "a.pgbench@3, b.pgbench");
    assert!(script.source.contains("\"a.pgbench\", 3, \"SELECT 1;\","), "{}", script.source);
    assert_eq!(script.search_path.len(), 2, "they come from outside");
    assert_eq!(read.files[..2], ["a.pgbench", "b.pgbench"].map(|name| folder.path().join(name)));
    let error = |workload: &str| plan(workload).unwrap_err().to_string();
    assert!(error("wrong.pgbench").contains("wrong.pgbench:2:11: the end of the line is not expected here"));
    assert!(error("no.pgbench").contains("cannot read the workload no.pgbench: "));
    write("shell.pgbench", "SELECT 1;\n\\shell date");
    assert!(error("shell.pgbench").contains("shell.pgbench:2:1: \\shell runs a program on this machine"));
    let allowed = TEXT
        .replace("operation = \"row\"", "operation = \"row\"\noptions = { allow_shell = true }")
        .replace("skip_trx = true", "allow_shell = true");
    write("plan.toml", &allowed.replace("oltp_read_write", "shell.pgbench"));
    let read = Plan::read(&folder.path().join("plan.toml"), &Catalogue::builtin()).unwrap();
    assert!(read.steps.iter().all(|step| step.script.name == "shell.pgbench"));
}

#[test]
fn systems_must_be_in_the_catalogue() {
    let unknown = first_line_of("mariadb@10.11/rocksdb", "maridb@10.11/rocksdb");
    assert!(
        unknown.starts_with("plan.toml:20:10: there is no engine 'maridb', did you mean 'mariadb'?"),
        "{unknown}"
    );
    let version = first_line_of("mysql@5.6.24/innodb", "mysql@5.5.1/innodb");
    assert!(version.starts_with("plan.toml:15:10: there is no version '5.5.1' of mysql"), "{version}");
    let storage_engine = first_line_of("mysql@5.6.24/innodb", "mysql@5.6.24/rocksdb");
    assert!(storage_engine.contains("has no storage engine 'rocksdb'"), "{storage_engine}");
    let name = first_line_of("\"sqlite\"", "\"sqlite@\"");
    assert!(name.starts_with("plan.toml:24:10: 'sqlite@' has no version"), "{name}");
}

#[test]
fn a_workload_file_that_is_not_there_is_named() {
    let line = first_line_of("\"oltp_read_write\"", "\"./none.lua\"");
    assert_eq!(
        line,
        "plan.toml:31:12: cannot read the workload ./none.lua: No such file or directory (os error 2)"
    );
}

/// Parses [`TEXT`] with `rounds = 4` replaced by other keys.
fn with(keys: &str) -> Result<Plan, super::PlanError> {
    parse(&TEXT.replacen("rounds = 4", keys, 1))
}

/// Parses [`TEXT`] with more keys in its last step.
fn with_in_step(keys: &str) -> Result<Plan, super::PlanError> {
    parse(&format!("{TEXT}{keys}\n"))
}

/// Returns the first line of the error of [`with`].
fn first_line_with(keys: &str) -> String {
    with(keys).unwrap_err().to_string().lines().next().unwrap().to_owned()
}

#[test]
fn cores_are_kept_awake_where_possible_unless_a_plan_says_otherwise() {
    let keep = |keys: &str| with(&format!("rounds = 1\n{keys}")).unwrap().keep_cores_awake;
    assert_eq!(keep(""), KeepCoresAwake::Auto);
    assert_eq!(keep("keep_cores_awake = \"auto\""), KeepCoresAwake::Auto);
    assert_eq!(keep("keep_cores_awake = true"), KeepCoresAwake::Always);
    assert_eq!(keep("keep_cores_awake = false"), KeepCoresAwake::Never);
    assert_eq!(
        first_line_with("rounds = 1\nkeep_cores_awake = \"always\""),
        "plan.toml:5:20: `keep_cores_awake` must be \"auto\" or true or false"
    );
}

#[test]
fn a_control_is_the_base_once_more() {
    let plan = with("rounds = 4\naa_control = true").unwrap();
    let control = plan.systems.last().unwrap();
    assert_eq!((plan.systems.len(), control.id.as_str()), (4, "a.control"));
    assert_eq!(control.control_of.as_deref(), Some("a"));
    assert_eq!(control.settings, plan.systems[0].settings);
}

#[test]
fn a_step_may_have_a_rate_that_changes() {
    let rate = |keys: &str| with_in_step(keys).unwrap().steps[1].rate.clone().unwrap();
    assert_eq!(rate("rate = 1000"), Rate::steady(1000.0));
    assert_eq!(rate("rate = 2.5\nspacing = \"constant\"").spacing, Spacing::Constant);
    let ramp = rate("rate = [{ at_seconds = 0, per_second = 0 }, { at_seconds = 60, per_second = 1000 }]");
    assert_eq!(ramp.points[1], RatePoint { at_seconds: 60.0, per_second: 1000.0 });
    for (keys, complaint) in [
        ("rate = 0", "`rate` must be above 0"),
        ("rate = []", "`rate` must be a list that is not empty"),
        (
            "rate = [{ at_seconds = 9, per_second = 1 }, { at_seconds = 1, per_second = 1 }]",
            "in order of time",
        ),
    ] {
        let error = with_in_step(keys).unwrap_err().to_string();
        assert!(error.contains(complaint), "{error}");
    }
}

#[test]
fn a_step_may_leave_out_systems() {
    let plan = with("rounds = 4\naa_control = true").unwrap();
    assert_eq!(plan.systems_of(1).collect::<Vec<_>>(), [0, 1, 2, 3]);
    let text = TEXT.replacen("rounds = 4", "rounds = 4\naa_control = true", 1);
    let plan = parse(&format!("{text}not_for = [\"a\"]\n")).unwrap();
    assert_eq!(plan.steps[1].not_for, ["a", "a.control"]);
    assert_eq!((plan.systems_of(0).count(), plan.systems_of(1).collect::<Vec<_>>()), (4, vec![1, 2]));
    for (keys, complaint) in [
        ("not_for = [\"d\"]", "there is no system `d`; there are: a, b, c"),
        ("not_for = [\"a\", \"b\", \"c\"]", "`not_for` leaves the step without a system"),
        ("command = \"prepare\"\nnot_for = [\"a\"]", "a load is for all systems; leave `not_for` out"),
    ] {
        let error = with_in_step(keys).unwrap_err().to_string();
        assert!(error.contains(complaint) && error.starts_with("plan.toml:4"), "{error}");
    }
}

#[test]
fn a_suite_gives_steps_and_its_mistakes_are_shown_in_its_own_file() {
    let folder = tempfile::tempdir().unwrap();
    let steps = TEXT.find("[[step]]").unwrap();
    let plan = folder.path().join("plan.toml");
    fs::write(&plan, format!("suite = \"./mine.toml\"\n{}", &TEXT[..steps])).unwrap();
    let suite = folder.path().join("mine.toml");
    fs::write(&suite, &TEXT[steps..]).unwrap();
    let read = || Plan::read(&plan, &Catalogue::builtin());
    let ids: Vec<_> = read().unwrap().steps.into_iter().map(|step| step.id).collect();
    assert_eq!(ids, ["load", "read-write"]);
    fs::write(&suite, TEXT[steps..].replace("operation", "operatoin")).unwrap();
    let error = read().unwrap_err().to_string();
    assert!(
        error.starts_with(&format!(
            "{}:6:1: unknown key `operatoin`",
            folder.path().join("./mine.toml").display()
        )),
        "{error}"
    );
    let error = with("rounds = 1\nsuite = \"sysbench-mirco\"").unwrap_err().to_string();
    assert!(
        error.contains("there is no built-in suite `sysbench-mirco` — did you mean `sysbench-micro`?"),
        "{error}"
    );
}

#[test]
fn claims_are_kept_with_their_published_figures() {
    let plan = parse(&format!(
        "{TEXT}[[claim]]\nid = \"slower\"\nexpression = \"ratio(b, a, tps, load, 1) < 1\"\nsays = \"b is slower\"\n\
         published = 0.72\nsource = \"a post\"\n"
    ))
    .unwrap();
    assert_eq!((plan.claims[0].id.as_str(), plan.claims[0].published), ("slower", Some(0.72)));
    let nonsense = format!("{TEXT}[[claim]]\nid = \"x\"\nexpression = \"faster\"\nsays = \"x\"\n");
    let error = parse(&nonsense).unwrap_err().to_string();
    assert!(error.starts_with("plan.toml:42:14: "), "{error}");
}

#[test]
fn a_server_that_runs_already_is_named_by_its_address_and_no_password_is_in_the_plan() {
    let system = |text: &str| {
        parse(&TEXT.replacen("engine = \"sqlite\"\nsettings = { journal_mode = \"WAL\" }", text, 1))
    };
    let plan =
        system("dsn = \"mysql://bench:${SECRET}@db.example/sbtest\"\nstorage_engine = \"innodb\"").unwrap();
    assert_eq!(plan.systems[2].source.name(), "mysql://bench@db.example:3306/sbtest/innodb");
    for (text, complaint) in [
        ("dsn = \"mysql://bench:hunter2@db.example/sbtest\"", "a password must not be in it"),
        ("dsn = \"mysql://bench@db.example/sbtest?password=hunter2\"", "a password must not be in it"),
        ("dsn = \"mysql://db.example/?user=a&password=%68unter2\"", "a password must not be in it"),
        ("dsn = \"oracle://db.example\"", "begins with mysql://"),
        ("dsn = \"mysql://bench@db.example/sbtest\"\nsettings = { a = 1 }", "cannot be given `settings`"),
        ("dsn = \"mysql://bench@db.example/sbtest\"\nengine = \"mysql\"", "leave it out"),
        ("dsn = \"mysql://bench@db.example/sbtest\"\nbasedir = \".\"", "not both"),
        ("engine = \"mysql\"\nmay_drop = true", "`may_drop` is for a server that runs already"),
        ("engine = \"mysql\"\nkeep_data = false", "`keep_data` is for a server that runs already"),
        (
            "dsn = \"mysql://bench@db.example\"\nkeep_data = true",
            "`keep_data` needs a database: name it in the `dsn`",
        ),
        (
            "dsn = \"postgres://db.example?ssl=on\"",
            "the dsn has a parameter 'ssl', which is unknown; the parameters are: socket, host",
        ),
        ("dsn = \"postgres://db.example?sslmode=verify-ca\"", "sslmode=verify-ca needs sslrootcert"),
        (
            "dsn = \"mysql://db.example?ssl-mode=VERIFY_CA&ssl-ca=no/such/ca.pem\"",
            "cannot use no/such/ca.pem for TLS: ",
        ),
        ("basedir = \"./nowhere\"", "nowhere"),
        ("engine = \"oci:--privileged\"", "'--privileged' is not the name of an image"),
        ("engine = \"sqlite\"\nfamily = \"mysql\"", "`family` is for an image"),
    ] {
        let error = system(text).unwrap_err().to_string();
        assert!(error.starts_with("plan.toml:") && error.contains(complaint), "{error}");
        assert!(!error.contains("unter2"), "{error}");
    }
}

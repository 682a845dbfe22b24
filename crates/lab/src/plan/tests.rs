//! Valid plans, and each way in which a plan can be wrong.

mod effects;
mod find;
mod ladders;
mod rounds;
mod sweeps;

use std::fs;

use dyno_engine::Catalogue;
use dyno_load::{Rate, RatePoint, Spacing};
use dyno_store::{JoinRecord, Operation};

use super::testing::{TEXT, parse, plan};
use super::{Command, Data, KeepCoresAwake, Measure, Plan, Rounds};

/// The error of [`TEXT`] with one text in it replaced, as a user sees it.
fn error_of(old: &str, new: &str) -> String {
    assert!(TEXT.contains(old), "{old}");
    parse(&TEXT.replacen(old, new, 1)).unwrap_err().to_string()
}

/// The first line of that error.
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

/// The first lines of all errors of [`TEXT`] after some replacements.
fn first_lines_of(changes: &[(&str, &str)]) -> Vec<String> {
    let mut text = TEXT.to_owned();
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        text = text.replacen(old, new, 1);
    }
    let mut error = parse(&text).unwrap_err();
    let others = std::mem::take(&mut error.others);
    let all = std::iter::once(error).chain(others).map(|error| error.to_string());
    all.map(|error| error.lines().next().unwrap().to_owned()).collect()
}

#[test]
fn all_mistakes_of_a_plan_are_found_at_once() {
    let structure = [
        ("rounds = 4", "ronds = 4"),
        ("seconds = 2", "seconds = \"two\""),
        ("rows = 100", "rows = 0"),
        ("id = \"b\"\n", ""),
        ("operation = \"transaction\"", "operation = \"trx\"\nclient = [1]"),
    ];
    assert_eq!(
        first_lines_of(&structure),
        [
            "plan.toml:4:1: unknown key `ronds` — did you mean `rounds`?",
            "plan.toml:6:11: `seconds` must be a number, not a text",
            "plan.toml:11:8: `rows` must be from 1 to 1000000000000",
            "plan.toml:18:1: a [[system]] needs a key `id`",
            "plan.toml:37:13: `operation` cannot be `trx`; there are: query, transaction, row",
            "plan.toml:38:1: unknown key `client` — did you mean `clients`?",
        ]
    );
    let names = [
        ("base = \"a\"", "base = \"z\""),
        ("clients = [1, 4]", "clients = [1, 1]"),
        ("\"oltp_read_write\"\noperation = \"row\"", "\"oltp_read_wite\"\noperation = \"row\""),
        ("operation = \"transaction\"", "operation = \"transaction\"\nrepeats = \"load\"\nnot_for = [\"y\"]"),
    ];
    assert_eq!(
        first_lines_of(&names),
        [
            "plan.toml:3:8: there is no system `z`; there are: a, b, c",
            "plan.toml:5:15: `clients` names 1 twice",
            "plan.toml:31:12: there is no built-in workload `oltp_read_wite` — did you mean `oltp_read_write`?",
            "plan.toml:40:12: there is no system `y`; there are: a, b, c",
        ]
    );
}

#[test]
fn a_mistake_that_another_explains_is_not_told() {
    // Without valid systems no name of a system is reported as wrong, and without a valid step no name of a
    // step.
    let engine = [
        ("mysql@5.6.24/innodb", "msql@5.6.24/innodb"),
        ("operation = \"transaction\"", "operation = \"transaction\"\nnot_for = [\"b\"]"),
    ];
    let [only] = &first_lines_of(&engine)[..] else { panic!("{:?}", first_lines_of(&engine)) };
    assert!(only.contains("there is no engine 'msql'"), "{only}");
    let step = [
        ("\"oltp_read_write\"", "\"oltp\""),
        ("operation = \"transaction\"", "operation = \"transaction\"\nrepeats = \"load\""),
    ];
    assert_eq!(first_lines_of(&step).len(), 1);
    // A misspelt key is not also reported as missing.
    let key = [("workload = ", "worklod = "), ("base = \"a\"", "base = 1")];
    assert_eq!(first_lines_of(&key).len(), 2, "{:?}", first_lines_of(&key));
    // A wrong name is reported regardless of other mistakes.
    let both = [("base = \"a\"", "base = \"z\""), ("rounds = 4", "ronds = 4")];
    assert_eq!(first_lines_of(&both).len(), 2, "{:?}", first_lines_of(&both));
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
fn a_background_load_may_have_a_rate_unless_its_clients_join() {
    let with = |clients: &str| {
        let background =
            "[[step.background]]\nid = \"writers\"\nworkload = \"oltp_update_index\"\nrate = 2\n";
        parse(&format!("{TEXT}{background}clients = {clients}\n"))
    };
    let steady = with("1").unwrap();
    let rate = steady.steps.last().unwrap().background[0].rate.clone().unwrap();
    assert!((rate.points[0].per_second - 2.0).abs() < f64::EPSILON);
    let error = with("[{ at_seconds = 1, clients = 4 }]").unwrap_err().to_string();
    assert!(error.contains("clients that join run as fast as they can; leave `rate` out"), "{error}");
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
}

#[test]
fn an_error_shows_its_place() {
    assert_eq!(
        error_of("rounds = 4", "ronds = 4"),
        "plan.toml:4:1: unknown key `ronds` — did you mean `rounds`?\n  4 | ronds = 4\n    | ^^^^^"
    );
    assert_eq!(
        error_of("settings = { journal_mode = \"WAL\" }", "settings = { \"é\" = 1, x = [] }"),
        "plan.toml:25:27: `x` must be a text, a number, true or false, not a list\n  \
         25 | settings = { \"é\" = 1, x = [] }\n     \
         |                           ^^"
    );
}

#[test]
fn a_text_that_is_no_toml_is_shown_where_it_ends_to_be() {
    assert!(first_line_of("rounds = 4", "rounds = ").starts_with("plan.toml:4:"));
    assert!(first_line_of("[data]", "[data").starts_with("plan.toml:9:"));
    assert!(
        first_line_of("rounds = 4", "rounds = 4\nrounds = 5").starts_with("plan.toml:5:1: duplicate key")
    );
}

#[test]
fn unknown_keys_are_found_in_every_table() {
    assert_eq!(
        first_line_of("rows = 100", "row = 100"),
        "plan.toml:11:1: unknown key `row` — did you mean `rows`?"
    );
    assert!(
        first_line_of("settings", "setings").ends_with("unknown key `setings` — did you mean `settings`?")
    );
    assert!(
        first_line_of("workload", "worklod").ends_with("unknown key `worklod` — did you mean `workload`?")
    );
    assert!(first_line_of("tables = 2", "xyz = 2").ends_with("unknown key `xyz`; there are: tables, rows"));
}

#[test]
fn missing_keys_are_named_with_their_table() {
    assert_eq!(first_line_of("base = \"a\"", ""), "plan.toml:1:1: the plan needs a key `base`");
    assert_eq!(first_line_of("rows = 100", ""), "plan.toml:9:1: [data] needs a key `rows`");
    assert_eq!(
        first_line_of("engine = \"sqlite\"\n", ""),
        "plan.toml:22:1: a [[system]] needs a key `engine`"
    );
    assert!(first_line_of("id = \"load\"\n", "").ends_with("a [[step]] needs a key `id`"));
}

#[test]
fn values_of_another_type_are_told_apart() {
    for (old, new, complaint) in [
        ("rounds = 4", "rounds = \"four\"", "`rounds` must be \"until-decided\" or a whole number"),
        (
            "rounds = 4",
            "rounds = 4.5",
            "`rounds` must be \"until-decided\" or a whole number, not a number with a fraction",
        ),
        ("title = \"A small plan\"", "title = 7", "`title` must be a text, not a whole number"),
        ("clients = [1, 4]", "clients = 4", "`clients` must be a list of whole numbers, not a whole number"),
        ("clients = [1, 4]", "clients = [1, \"4\"]", "`clients` must be a whole number, not a text"),
        ("seconds = 2", "seconds = true", "`seconds` must be a number, not true or false"),
        ("[data]\ntables = 2\nrows = 100", "data = 3", "`data` must be a table, not a whole number"),
        ("engine = \"sqlite\"", "engine = 2026-01-01", "`engine` must be a text, not a date or time"),
    ] {
        assert!(first_line_of(old, new).ends_with(complaint), "{}", first_line_of(old, new));
    }
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    for (old, new, complaint) in [
        ("rounds = 4", "rounds = 0", "`rounds` must be from 1 to 1000"),
        ("rounds = 4", "rounds = -1", "`rounds` must be from 1 to 1000"),
        ("clients = [1, 4]", "clients = []", "`clients` must be a list of whole numbers that is not empty"),
        ("clients = [1, 4]", "clients = [1, 0]", "`clients` must be from 1 to 100000"),
        ("seconds = 2", "seconds = 0", "`seconds` must be above 0"),
        ("seconds = 2", "seconds = -3.5", "`seconds` must be above 0"),
        ("seconds = 2", "seconds = nan", "`seconds` must be a finite number"),
        ("warmup_seconds = 0.5", "warmup_seconds = -1", "`warmup_seconds` must be 0 or more"),
        ("tables = 2", "tables = 0", "`tables` must be from 1 to 100000"),
        ("id = \"a\"", "id = \"\"", "`id` must be a text that is not empty"),
    ] {
        assert!(first_line_of(old, new).ends_with(complaint), "{}", first_line_of(old, new));
    }
}

#[test]
fn names_of_nothing_get_a_near_miss() {
    for (old, new, complaint) in [
        ("base = \"a\"", "base = \"z\"", "there is no system `z`; there are: a, b, c"),
        ("\"prepare\"", "\"prepar\"", "`command` cannot be `prepar` — did you mean `prepare`?"),
        ("\"transaction\"", "\"trx\"", "`operation` cannot be `trx`; there are: query, transaction, row"),
        (
            "\"oltp_read_write\"",
            "\"oltp_read_wite\"",
            "there is no built-in workload `oltp_read_wite` — did you mean `oltp_read_write`?",
        ),
    ] {
        assert!(first_line_of(old, new).ends_with(complaint), "{}", first_line_of(old, new));
    }
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
fn two_of_a_name_are_one_too_many() {
    assert_eq!(
        first_line_of("id = \"b\"", "id = \"a\""),
        "plan.toml:18:1: there are two systems `a`; give one of them another id"
    );
    assert!(first_line_of("id = \"read-write\"", "id = \"load\"").contains("there are two steps `load`"));
    assert!(first_line_of("[1, 4]", "[1, 4, 1]").starts_with("plan.toml:5:18: `clients` names 1 twice"));
}

#[test]
fn a_step_has_at_most_256_client_counts() {
    let counts =
        |many: u32| format!("[{}]", (1..=many).map(|count| count.to_string()).collect::<Vec<_>>().join(","));
    assert!(parse(&TEXT.replacen("[1, 4]", &counts(256), 1)).is_ok());
    let error = first_line_of("[1, 4]", &counts(257));
    assert!(error.ends_with("`clients` has more than 256 numbers"), "{error}");
}

#[test]
fn a_plan_needs_systems_and_steps() {
    let systems = TEXT.find("[[system]]").unwrap()..TEXT.find("[[step]]").unwrap();
    let error = parse(&TEXT.replace(&TEXT[systems], "")).unwrap_err().to_string();
    assert!(error.starts_with("plan.toml:1:1: the plan needs a key `system`"), "{error}");
    let error = parse(&TEXT[..TEXT.find("[[step]]").unwrap()]).unwrap_err().to_string();
    assert!(error.starts_with("plan.toml:1:1: the plan needs a key `step`"), "{error}");
}

#[test]
fn a_workload_file_that_is_not_there_is_named() {
    let line = first_line_of("\"oltp_read_write\"", "\"./none.lua\"");
    assert_eq!(
        line,
        "plan.toml:31:12: cannot read the workload ./none.lua: No such file or directory (os error 2)"
    );
}

/// [`TEXT`] with more keys at its top.
fn with(keys: &str) -> Result<Plan, super::PlanError> {
    parse(&TEXT.replacen("rounds = 4", keys, 1))
}

/// [`TEXT`] with more keys in its last step.
fn with_in_step(keys: &str) -> Result<Plan, super::PlanError> {
    parse(&format!("{TEXT}{keys}\n"))
}

/// The first line of the error of [`with`].
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
fn of_several_mistakes_the_first_in_the_file_is_shown() {
    for (keys, complaint) in [
        ("rounds = 0\nwarm = 1", "plan.toml:4:10: `rounds` must be from 1 to 1000"),
        ("warm = 1\nrounds = 0", "plan.toml:4:8: `warm` must be true or false, not a whole number"),
        ("rounds = 4\nwam = true\nload = 1", "plan.toml:5:1: unknown key `wam` — did you mean `warm`?"),
        (
            "rounds = 4\nsuite = \"none\"\nload = 1",
            "plan.toml:5:9: there is no built-in suite `none`; there are: sysbench-micro, tpch",
        ),
    ] {
        assert_eq!(first_line_with(keys), complaint);
    }
}

#[test]
fn mistakes_in_tables_inside_of_tables_have_their_place() {
    for (keys, complaint) in [
        ("[[step.background]]\nid = \"x\"", "plan.toml:40:1: a [[step.background]] needs a key `workload`"),
        ("rate = [{ at_seconds = 0 }]", "plan.toml:40:9: a [[step.rate]] needs a key `per_second`"),
        (
            "rate = [{ at_seconds = 0, per_seconds = 1 }]",
            "plan.toml:40:27: unknown key `per_seconds` — did you mean `per_second`?",
        ),
        ("rate = [{ at_seconds = -1, per_second = 1 }]", "plan.toml:40:24: `at_seconds` must be 0 or more"),
        ("repeats = \"lod\"", "plan.toml:40:11: there is no earlier step `lod` — did you mean `load`?"),
        ("[scale]\nx = { factr = 1 }", "plan.toml:41:7: unknown key `factr` — did you mean `factor`?"),
        ("[scale]\nx = { clients = [1] }", "plan.toml:41:5: [scale.x] needs a key `factor`"),
        ("[scale]\nx = \"0.1\"", "plan.toml:41:5: `x` must be a number or a table"),
        ("[confinement]\nmemory = \"lots\"", "plan.toml:41:10: `lots` is not a size"),
        ("[confinement]\nserver_cpus = \"3-1\"", "plan.toml:41:15: "),
    ] {
        let error = with_in_step(keys).unwrap_err().to_string();
        assert!(error.starts_with(complaint), "{error}");
    }
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
fn a_step_may_have_background_loads() {
    let plan = with_in_step(
        "before = \"true\"\n[[step.background]]\nid = \"readers\"\nworkload = \"oltp_point_select\"\n\
         operation = \"query\"\nclients = 64",
    )
    .unwrap();
    let step = &plan.steps[1];
    assert_eq!(
        (step.background[0].clients, step.background_id(&step.background[0])),
        (64, "read-write.readers".to_owned())
    );
    assert_eq!(step.before.as_deref(), Some("true"));
}

fn with_joins(clients: &str) -> Result<Plan, super::PlanError> {
    with_in_step(&format!(
        "seconds = 30\n[[step.background]]\nid = \"writers\"\nworkload = \"oltp_update_index\"\n\
         operation = \"transaction\"\nclients = {clients}"
    ))
}

#[test]
fn clients_of_a_background_load_may_join() {
    let joins = "[{ at_seconds = 10, clients = 4 }, { at_seconds = 20.5, clients = 8 }]";
    let plan = with_joins(joins).unwrap();
    let background = &plan.steps[1].background[0];
    let join = |at_seconds, clients| JoinRecord { at_seconds, clients };
    assert_eq!((background.clients, &background.joins), (8, &vec![join(10.0, 4), join(20.5, 8)]));
    assert!(plan.steps[1].has_joins() && !plan.steps[0].has_joins());
}

#[test]
fn joins_that_cannot_be_are_shown_with_their_place() {
    let place = |column: usize| format!("plan.toml:45:{column}: ");
    for (clients, column, complaint) in [
        ("0", 11, "`clients` must be from 1 to 100000"),
        ("\"4\"", 11, "`clients` must be a number or a list"),
        ("[]", 11, "`clients` must be a list that is not empty"),
        ("[{ at_seconds = 1 }]", 12, "a [[step.background.clients]] needs a key `clients`"),
        ("[{ at_seconds = 0, clients = 4 }]", 27, "`at_seconds` must be above 0"),
        ("[{ at_seconds = 1, clients = 0 }]", 40, "`clients` must be from 1 to 100000"),
        ("[{ at_seconds = 30, clients = 4 }]", 12, "`at_seconds` must be below 30, at which the step ends"),
        (
            "[{ at_seconds = 9, clients = 4 }, { at_seconds = 8, clients = 5 }]",
            45,
            "`at_seconds` must be above 9, the time before it",
        ),
        (
            "[{ at_seconds = 9, clients = 4 }, { at_seconds = 10, clients = 4 }]",
            45,
            "`clients` must be above 4, the number before it: it counts all that run",
        ),
    ] {
        let error = with_joins(clients).unwrap_err().to_string();
        assert_eq!(error.lines().next().unwrap(), format!("{}{complaint}", place(column)), "{clients}");
    }
    let second = "[{ at_seconds = 1, clients = 4 }]\n[[step.background]]\nid = \"more\"\n\
                  workload = \"oltp_update_index\"\noperation = \"query\"\nclients = [{ at_seconds = 1, clients = 2 }]";
    let error = with_joins(second).unwrap_err().to_string();
    assert!(error.starts_with("plan.toml:50:11: clients of `writers` join too"), "{error}");
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

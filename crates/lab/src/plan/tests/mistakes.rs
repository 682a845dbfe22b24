//! Mistakes in plans: all are found, and each is shown with its place.

use super::super::testing::{TEXT, parse};
use super::{error_of, first_line_of, first_line_with, with_in_step};

/// Makes replacements in [`TEXT`], and returns the first line of each of its errors.
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
    let title = TEXT.lines().find(|line| line.starts_with("title")).unwrap();
    let values_and_keys = [(title, ""), ("rounds = 4", "rounds = 0")];
    assert_eq!(
        first_lines_of(&values_and_keys),
        ["plan.toml:1:1: the plan needs a key `title`", "plan.toml:4:10: `rounds` must be from 1 to 1000"]
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
    // If a system is wrong, no unknown name of a system is reported. If a step is wrong, no unknown earlier step is
    // reported.
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
    // A key that was misspelt is not also reported as missing.
    let key = [("workload = ", "worklod = "), ("base = \"a\"", "base = 1")];
    assert_eq!(first_lines_of(&key).len(), 2, "{:?}", first_lines_of(&key));
    // A wrong name is reported regardless of other mistakes.
    let both = [("base = \"a\"", "base = \"z\""), ("rounds = 4", "ronds = 4")];
    assert_eq!(first_lines_of(&both).len(), 2, "{:?}", first_lines_of(&both));
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

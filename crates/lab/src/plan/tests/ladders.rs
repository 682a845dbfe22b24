use super::super::testing::{TEXT, parse};
use dyno_store::LadderRecord;

use super::super::Plan;

/// Parses the plan with the additional `tables` after its system `a`.
fn with(tables: &str) -> Result<Plan, String> {
    let text = TEXT.replacen("[[system]]\nid = \"b\"", &format!("{tables}\n[[system]]\nid = \"b\""), 1);
    parse(&text).map_err(|error| error.to_string())
}

fn error(tables: &str) -> String {
    with(tables).unwrap_err().lines().next().unwrap().to_owned()
}

/// A ladder of three systems. The first neither flushes its log at commits nor has a binary log. The second flushes its
/// log. The third also has a binary log.
const RUNGS: &str = r#"
[[system.ladder]]
id = "fast"
settings = { innodb_flush_log_at_trx_commit = 0, log_bin = false }
[[system.ladder]]
id = "flush"
settings = { innodb_flush_log_at_trx_commit = 1 }
[[system.ladder]]
id = "binlog"
settings = { log_bin = true, sync_binlog = 0 }
"#;

fn ladder(id: &str, systems: &[&str]) -> LadderRecord {
    LadderRecord { id: id.to_owned(), systems: systems.iter().map(|id| (*id).to_owned()).collect() }
}

#[test]
fn a_system_with_a_ladder_becomes_one_for_each_rung_which_keeps_what_those_before_set() {
    let plan = with(RUNGS).unwrap();
    let ids: Vec<&str> = plan.systems.iter().map(|system| system.id.as_str()).collect();
    assert_eq!(ids, ["a.fast", "a.flush", "a.binlog", "b", "c"]);
    let settings = |system: usize| {
        let of = |name: &str| plan.systems[system].settings.get(name).map(String::as_str);
        ["innodb_flush_log_at_trx_commit", "log_bin", "sync_binlog", "innodb_doublewrite"].map(of)
    };
    assert_eq!(settings(0), [Some("0"), Some("false"), None, Some("1")]);
    assert_eq!(settings(1), [Some("1"), Some("false"), None, Some("1")]);
    assert_eq!(settings(2), [Some("1"), Some("true"), Some("0"), Some("1")]);
    assert_eq!(plan.ladders, [ladder("a", &["a.fast", "a.flush", "a.binlog"])]);
    assert_eq!(plan.base, 0, "the ladder's id is its first system");
    assert!(plan.systems[2].data_settings.is_none());
    let shared = with(&format!("share_data = true{RUNGS}")).unwrap();
    assert_eq!(shared.systems[2].data_settings.as_ref(), Some(&shared.systems[0].settings));
    let two = format!(
        "share_data = true{RUNGS}[[system]]\nid = \"d\"\nengine = \"mysql\"\nshare_data = true{RUNGS}"
    );
    assert_eq!(with(&two).unwrap().data_sets(), 4, "two ladders, and two systems without one");
}

#[test]
fn a_ladder_of_systems_of_the_plan_comes_after_those_of_systems() {
    let plan = with(&format!("{RUNGS}[[ladder]]\nid = \"engines\"\nsystems = [\"a.binlog\", \"b\", \"c\"]"))
        .unwrap();
    assert_eq!(plan.ladders[1], ladder("engines", &["a.binlog", "b", "c"]));
    assert_eq!(plan.ladders.len(), 2);
}

#[test]
fn a_control_is_in_no_ladder() {
    let text = TEXT.replacen("rounds = 4", "rounds = 4\naa_control = true", 1);
    let ladder = format!("share_data = true{RUNGS}\n[[system]]\nid = \"b\"");
    let plan = parse(&text.replacen("[[system]]\nid = \"b\"", &ladder, 1)).unwrap();
    assert_eq!(plan.systems[5].id, "a.fast.control");
    assert_eq!(plan.ladders[0].systems.len(), 3);
    assert_eq!(plan.data_sets(), 3, "the ladder with the control, b and c");
}

#[test]
fn mistakes_in_ladders_have_their_place() {
    let of_plan = |systems: &str| error(&format!("[[ladder]]\nid = \"x\"\nsystems = {systems}"));
    assert_eq!(of_plan("[\"a\", \"bb\"]"), "plan.toml:20:17: there is no system `bb` — did you mean `b`?");
    assert_eq!(of_plan("[\"a\"]"), "plan.toml:20:11: a ladder needs at least two systems");
    assert_eq!(
        of_plan("[\"a\", \"b\", \"a\"]"),
        "plan.toml:20:22: the ladder has the system `a` twice; leave one of them out"
    );
    let two = "[[ladder]]\nid = \"x\"\nsystems = [\"a\", \"b\"]\n";
    assert!(
        error(&two.repeat(2)).ends_with("there are two ladders `x`; give one of them another id"),
        "{}",
        error(&two.repeat(2))
    );
    let near = RUNGS.to_owned() + "[[ladder]]\nid = \"x\"\nsystems = [\"a.fast\", \"a.flsh\"]";
    assert!(
        error(&near).ends_with("there is no system `a.flsh` — did you mean `a.flush`?"),
        "{}",
        error(&near)
    );
}

#[test]
fn mistakes_in_the_ladder_of_a_system_have_their_place() {
    let only = "[[system.ladder]]\nid = \"fast\"";
    assert_eq!(error(only), "plan.toml:18:1: a ladder needs at least two systems");
    let idle = format!("{only}\n[[system.ladder]]\nid = \"slow\"");
    assert!(error(&idle).ends_with("`slow` does not differ from the one before it; give it `settings`"));
    let twice = format!("{only}\n[[system.ladder]]\nid = \"slow\"\nsettings = {{ innodb_doublewrite = 0 }}");
    assert!(
        error(&twice)
            .ends_with("`innodb_doublewrite` is in `settings` and in `ladder`; leave one of them out"),
        "{}",
        error(&twice)
    );
    let swept = format!("sweep = {{ sync_binlog = [0, 1] }}{RUNGS}");
    assert!(error(&swept).ends_with("a system has a `sweep` or a `ladder`, not both"), "{}", error(&swept));
    let same = RUNGS.replace("\"flush\"", "\"fast\"");
    assert!(error(&same).contains("there are two systems `a.fast`"), "{}", error(&same));
}

#[test]
fn counters_are_named_once() {
    let keys = |counters: &str| {
        parse(&format!("counters = {counters}\n{TEXT}"))
            .map(|plan| plan.counters)
            .map_err(|error| error.to_string().lines().next().unwrap().to_owned())
    };
    assert_eq!(keys("[\"Com_select\", \"x.y\"]").unwrap(), ["Com_select", "x.y"]);
    assert_eq!(
        keys("[\"a\", \"a\"]").unwrap_err(),
        "plan.toml:1:18: `counters` names `a` twice; leave one of them out"
    );
}

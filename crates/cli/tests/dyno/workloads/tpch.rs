//! The queries of TPC-H: their answers on each kind of database, and the plan of the study.

use std::fs;
use std::path::Path;

use dyno_engine::Installation;
use dyno_engine::testing::{named_engines, with_engine};
use dyno_judge::first_difference;
use dyno_store::QueryAnswer;
use dyno_testing::dyno_test;

use crate::bench::Bench;

const MARIADB: &str = "mariadb@10.11/innodb";
const QUERIES: u32 = 22;

/// The answers of the reference, one for each query.
fn reference() -> Vec<QueryAnswer> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/tpch-answers-0.01.txt");
    let text = fs::read_to_string(path).unwrap();
    let sections = text.split("# ").skip(1);
    let rows = |section: &str| -> Vec<String> { section.lines().skip(1).map(str::to_owned).collect() };
    sections.map(|section| QueryAnswer::of(&rows(section))).collect()
}

#[dyno_test(named_engines(&["mysql@9.7.4/innodb", MARIADB, "postgres@18.4"]))]
fn every_answer_is_the_reference_s(_: &Installation, system: &'static str) {
    answers_are_the_reference_s(system);
}

#[dyno_test]
fn every_answer_is_the_reference_s_on_sqlite() {
    answers_are_the_reference_s("sqlite");
}

fn answers_are_the_reference_s(engine: &str) {
    let bench = Bench::new();
    bench.write(
        "plan.toml",
        &format!(
            "name = 'tpch'\ntitle = 'TPC-H'\nbase = 's'\nrounds = 1\nclients = [1]\nseconds = 1\nsuite = 'tpch'\n\
             [[system]]\nid = 's'\nengine = '{engine}'\n"
        ),
    );
    bench.dyno(&["run", "plan.toml", "--scale", "0.01"]).with(0);
    let reference = reference();
    assert_eq!(reference.len(), QUERIES as usize);
    for (query, expected) in (1..).zip(&reference) {
        let of_query = format!("JOIN trial ON trial.id = trial_id WHERE step_id = 'q{query}'");
        let value = |column: &str| format!("SELECT {column} FROM query_answer {of_query}");
        let answer = QueryAnswer {
            rows: bench.value::<i64>(&value("rows")).unwrap_or_else(|| panic!("an answer to {query}")) as u64,
            text: bench.value(&value("answer")).unwrap(),
        };
        assert_eq!(first_difference(&answer, expected), None, "query {query}");
        let plan: String = bench.value(&format!("SELECT plan FROM query_plan {of_query}")).unwrap();
        assert!(!plan.is_empty() && !plan.starts_with("none: "), "query {query}: {plan}");
    }
    assert_eq!(bench.value("SELECT operations FROM trial WHERE step_id = 'q1'"), Some(3));
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE outcome = 'failed'"), Some(0));
}

/// Both systems of the study use the index, one with condition pushdown and one without.
#[dyno_test(with_engine(MARIADB))]
fn plans_are_compared_and_counters_claimed() {
    let bench = Bench::new();
    let system = |id: &str, switch: &str| {
        format!(
            "[[system]]\nid = '{id}'\nengine = '{MARIADB}'\n\
             settings = {{ optimizer_switch = 'index_condition_pushdown={switch}' }}\n"
        )
    };
    bench.write(
        "plan.toml",
        &format!(
            "name = 'pushed'\ntitle = 'Pushed'\nbase = 'off'\nrounds = 1\nclients = [1]\nseconds = 0.5\n\
             counters = ['Handler_read_next', 'Handler_icp_match']\n{}{}\
             [[step]]\nid = 'load'\ngroup = 'load'\ncommand = 'prepare'\nworkload = 'tpch'\noperation = 'row'\n\
             options = {{ scale_factor = 0.01, icp_index = true }}\n\
             [[step]]\nid = 'q19'\ngroup = 'queries'\nworkload = 'tpch'\noperation = 'query'\nevents = 3\n\
             options = {{ query = 19, force_index = 'i_l_partkey' }}\nexplain = true\nanswers = true\n\
             [[claim]]\nid = 'fewer'\nsays = 'fewer rows'\n\
             expression = 'value(off, counter.Handler_read_next, q19, 1) > 50'\n",
            system("off", "off"),
            system("on", "on"),
        ),
    );
    bench.dyno(&["run", "plan.toml"]).with(0);
    assert_eq!((bench.count("query_plan"), bench.count("query_answer")), (2, 2));
    assert_eq!(bench.value("SELECT count(DISTINCT answer) FROM query_answer"), Some(1));
    let read_next = |system: &str| -> f64 {
        let change = format!(
            "SELECT change_per_operation FROM counter_change
             WHERE system_id = '{system}' AND step_id = 'q19' AND name LIKE '%.Handler_read_next'"
        );
        // The view omits counters that did not change, so a missing row means 0.
        bench.value(&change).unwrap_or(0.0)
    };
    assert!(read_next("off") > 50.0 + 10.0 * read_next("on"), "{} {}", read_next("off"), read_next("on"));
    let text = bench.dyno(&["report", "--full"]).stdout;
    let plans = &text[text.find("Plans of queries").unwrap()..];
    assert!(plans.contains("off:\n") && plans.contains("on:\n"), "{plans}");
    assert_eq!(plans.matches("Using index condition").count(), 1, "{plans}");
    let json: serde_json::Value =
        serde_json::from_str(&bench.dyno(&["report", "--format", "json"]).stdout).unwrap();
    assert_eq!(json["query_plans"][0]["plans"].as_array().unwrap().len(), 2);
    let measured = json["claims"][0]["measured"].as_f64().unwrap();
    assert!((measured - read_next("off")).abs() < 1e-6, "{measured}");
}

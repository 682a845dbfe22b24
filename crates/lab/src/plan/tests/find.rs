//! The key `find`.

use dyno_store::FindRecord;

use super::super::Measure;
use super::with_in_step;

#[test]
fn a_search_has_a_limit_and_ends_when_it_is_narrow_or_its_time_is_over() {
    let step = |keys: &str| with_in_step(keys).unwrap().steps[1].clone();
    let plain = step("find = { p99_ms = 5 }");
    assert_eq!(plain.measure, Measure::Search(FindRecord { percentile: 99, limit_ms: 5.0, within: 0.05 }));
    assert_eq!(plain.seconds.to_bits(), 60.0_f64.to_bits());
    let own = step("find = { p50_ms = 0.5, within = 0.1, seconds_max = 20 }");
    assert_eq!(own.measure, Measure::Search(FindRecord { percentile: 50, limit_ms: 0.5, within: 0.1 }));
    assert_eq!(own.seconds.to_bits(), 20.0_f64.to_bits());
}

#[test]
fn a_scale_shortens_a_search_too() {
    let plan = with_in_step("find = { p95_ms = 5, seconds_max = 20 }").unwrap();
    let scale = plan.scale_of("0.5").unwrap();
    let scaled = plan.scaled(&scale);
    assert_eq!(scaled.steps[1].seconds.to_bits(), 10.0_f64.to_bits());
}

#[test]
fn mistakes_have_their_place() {
    for (keys, complaint) in [
        ("find = { }", "plan.toml:40:8: `find` needs a limit: p50_ms, p95_ms or p99_ms"),
        ("find = { p99 = 5 }", "plan.toml:40:10: unknown key `p99` — did you mean `p99_ms`?"),
        ("find = { p99_ms = 0 }", "plan.toml:40:19: `p99_ms` must be above 0"),
        ("find = { p99_ms = 9000 }", "plan.toml:40:19: `p99_ms` must be above 0, at most 5000"),
        (
            "find = { p95_ms = 5, p99_ms = 9 }",
            "plan.toml:40:31: `find` has one limit; leave `p95_ms` or `p99_ms` out",
        ),
        ("find = { p99_ms = 5, within = 2 }", "plan.toml:40:31: `within` must be from 0.005 to 0.5"),
        (
            "stacks = { hertz = 10 }\nfind = { p99_ms = 5 }",
            "plan.toml:40:10: a search has no single load that could run again; leave `stacks` out",
        ),
        ("find = 5", "plan.toml:40:8: `find` must be a table, not a whole number"),
        (
            "rate = 100\nfind = { p99_ms = 5 }",
            "plan.toml:41:8: `find` searches for the rate; leave `rate` out",
        ),
        (
            "spacing = \"constant\"\nfind = { p99_ms = 5 }",
            "plan.toml:41:8: a search spaces events as independent arrivals; leave `spacing` out",
        ),
        (
            "seconds = 5\nfind = { p99_ms = 5 }",
            "plan.toml:41:8: a search ends by itself; leave `seconds` out",
        ),
        (
            "slice_seconds = 1\nfind = { p99_ms = 5 }",
            "plan.toml:40:17: this step cannot be cut into slices: a search has probes of its own",
        ),
        (
            "find = { p99_ms = 5 }\n[[step.background]]\nid = \"x\"\nworkload = \"oltp_read_write\"\noperation = \"query\"\nclients = 1",
            "plan.toml:40:8: a search measures nothing beside its probes",
        ),
    ] {
        let error = with_in_step(keys).unwrap_err().to_string();
        assert!(error.starts_with(complaint), "{error}");
    }
}

#[test]
fn a_rate_of_queries_or_rows_is_not_searched_for() {
    for (old, new, complaint) in [
        ("\"transaction\"", "\"query\"", "write `operation = \"transaction\"`"),
        (
            "operation = \"transaction\"",
            "command = \"prepare\"\noperation = \"row\"",
            "a load has no rate to find",
        ),
    ] {
        let text = super::TEXT.replacen(old, new, 1);
        let error = super::parse(&format!("{text}find = {{ p99_ms = 5 }}\n")).unwrap_err().to_string();
        assert!(error.contains(complaint), "{error}");
    }
}

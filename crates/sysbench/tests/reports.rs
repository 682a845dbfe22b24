//! Reports as people's tools read them: each once, whole, and of what was measured.

mod support;

use std::fs;

use serde_json::Value;
use support::{number_after, sysbench};
use tempfile::TempDir;

const EVENT: &str = "ffi.cdef('int usleep(unsigned int);')\nfunction event() ffi.C.usleep(1000) end\n";

/// What a script and arguments print.
fn out_of(script: &str, arguments: &[&str]) -> String {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("script.lua");
    fs::write(&path, format!("{script}\n{EVENT}")).unwrap();
    let outcome = sysbench(&[&[path.to_str().unwrap()], arguments]);
    assert_eq!(outcome.err, "", "{outcome:?}");
    outcome.success()
}

#[test]
fn each_list_of_json_reports_is_whole() {
    let hooks = "sysbench.hooks.report_intermediate = sysbench.report_json
                 sysbench.hooks.report_cumulative = sysbench.report_json";
    let out = out_of(hooks, &["--threads=2", "--time=2", "--report-interval=0.1", "run"]);
    let lists = &out[out.find("\n[\n").expect("a list")..];
    let lists: Vec<Vec<Value>> = serde_json::Deserializer::from_str(lists)
        .into_iter()
        .collect::<Result<_, _>>()
        .expect("JSON to the end");
    let threads =
        |list: &Vec<Value>| list.iter().map(|report| report["threads"].as_u64()).collect::<Vec<_>>();
    assert!(lists[0].len() >= 2 && threads(&lists[0]).iter().all(|&threads| threads == Some(2)), "{out}");
    // When all is over no thread runs.
    assert_eq!(lists[1..].iter().map(threads).collect::<Vec<_>>(), [[Some(0)]]);
}

#[test]
fn the_histogram_comes_once_before_the_last_report_whoever_makes_it() {
    let options = ["--events=30", "--time=0", "--histogram", "run"];
    let by_hook = out_of("sysbench.hooks.report_cumulative = function() print('mine') end", &options);
    let by_dyno = out_of("", &options);
    for (out, report) in [(by_hook, "mine\n"), (by_dyno, "General statistics:\n")] {
        let histogram = out.find("Latency histogram").expect("a histogram");
        assert!(histogram < out.find(report).expect("a report"), "{out}");
        assert_eq!(out.matches("Latency histogram").count(), 1, "{out}");
    }
    let with_checkpoint = out_of("", &["--time=1", "--report-checkpoints=0.5", "--histogram", "run"]);
    assert_eq!(with_checkpoint.matches("Latency histogram").count(), 1, "{with_checkpoint}");
    assert_eq!(with_checkpoint.matches("General statistics:").count(), 2, "{with_checkpoint}");
}

#[test]
fn a_warm_up_is_announced_and_not_reported() {
    let out = out_of("", &["--warmup-time=1", "--time=1", "--report-interval=0.5", "run"]);
    assert!(out.contains("Threads started!\n\nWarming up for 1 seconds...\n\n[ "), "{out}");
    let times: Vec<f64> =
        out.lines().filter(|line| line.contains(" thds: ")).map(|line| number_after(line, "[ ")).collect();
    assert!(times.len() <= 3 && times.is_sorted(), "{out}");
}

#[test]
fn the_version_is_that_of_the_compatible_sysbench() {
    for (compat, version) in [("1.0", "sysbench 1.0.20"), ("1.1", "sysbench 1.1.0")] {
        let compat = format!("--compat={compat}");
        assert_eq!(sysbench(&[&[&compat, "--version"]]).success(), format!("{version}\n"));
        let banner = out_of("", &[&compat, "--events=1", "run"]);
        assert!(banner.starts_with(&format!("{version} (dyno ")), "{banner}");
    }
}

//! Reports as other tools read them: each appears once, is complete, and shows the measurements.

mod support;

use std::fs;

use serde_json::Value;
use support::{number_after, sysbench};
use tempfile::TempDir;

const EVENT: &str = "ffi.cdef('int usleep(unsigned int);')\nfunction event() ffi.C.usleep(1000) end\n";

/// The output of a script with arguments.
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
    // When the final report is printed, no thread is running.
    assert_eq!(lists[1..].iter().map(threads).collect::<Vec<_>>(), [[Some(0)]]);
}

#[test]
fn of_one_event_least_mean_greatest_and_percentile_are_one_number() {
    let hook = "sysbench.hooks.report_cumulative = function(s)
                  print('one', s.events, s.latency_min > 0.001, s.latency_min == s.latency_avg, s.latency_avg == s.latency_max,
                        s.latency_max == s.latency_sum, s.latency_pct == s.latency_max)
                end";
    let out = out_of(hook, &["--events=1", "--time=0", "run"]);
    assert!(out.contains("one\t1\ttrue\ttrue\ttrue\ttrue\ttrue\n"), "{out}");
    let json = out_of("", &["--events=1", "--time=0", "--format=json", "run"]);
    let last: Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    let latency = &last["latency_ms"];
    assert!(latency["min"].as_f64() > Some(1.0), "{last}");
    for figure in
        [&latency["mean"], &latency["max"], &latency["percentiles"]["50"], &latency["percentiles"]["99"]]
    {
        assert_eq!(figure, &latency["min"], "{last}");
    }
}

/// Very short events were once counted as a microsecond each, so that their sum exceeded the measured time.
#[test]
fn the_latencies_of_one_thread_add_up_to_no_more_than_its_time() {
    let script = "sysbench.hooks.report_intermediate = function(s)
                    print('sums', s.latency_sum, s.latency_min <= s.latency_avg and s.latency_avg <= s.latency_max)
                  end
                  function sysbench.hooks.report_cumulative(s) print('whole', s.latency_sum, s.time_total) end";
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("script.lua");
    fs::write(&path, format!("{script}\nfunction event() end\n")).unwrap();
    let out =
        sysbench(&[&[path.to_str().unwrap()], &["--time=1", "--report-interval=0.25", "run"]]).success();
    let numbers = |tag: &str| -> Vec<Vec<String>> {
        let lines = out.lines().filter_map(|line| line.strip_prefix(tag));
        lines.map(|line| line.split('\t').skip(1).map(str::to_owned).collect()).collect()
    };
    let intervals = numbers("sums");
    assert!(!intervals.is_empty() && intervals.iter().all(|figures| figures[1] == "true"), "{out}");
    let seconds = |text: &String| text.parse::<f64>().unwrap();
    let sum: f64 = intervals.iter().map(|figures| seconds(&figures[0])).sum();
    let whole = numbers("whole");
    let [whole] = &whole[..] else { panic!("{out}") };
    assert!(
        sum > 0.0 && sum <= seconds(&whole[0]) + 1e-9 && seconds(&whole[0]) <= seconds(&whole[1]),
        "{out}"
    );
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

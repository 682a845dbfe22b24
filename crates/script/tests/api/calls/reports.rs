//! Report hooks and sysbench's functions for them.

use dyno_script::{Entry, Stat};

use crate::support::{Bench, End};

fn stat(time_total_seconds: f64) -> Stat {
    Stat {
        threads_running: 4,
        time_interval_seconds: 2.0,
        time_total_seconds,
        latency_pct_seconds: 0.0015,
        events: 100,
        reads: 1000,
        writes: 200,
        other: 100,
        errors: 4,
        reconnects: 1,
        queue_length: 7,
        concurrency: 3,
        latency_min_seconds: 0.001,
        latency_max_seconds: 0.25,
        latency_avg_seconds: 0.002,
        latency_sum_seconds: 0.2,
    }
}

/// Runs a script whose hook for intermediate reports is `hook`: calls the hook for two reports, and then ends the
/// reports. Returns the script's output.
fn reported(hook: &str) -> Vec<String> {
    let mut bench = Bench::new(&format!("sysbench.hooks.report_intermediate = {hook}"));
    let task = bench.spawn(0);
    for seconds in [1.0, 2.0] {
        let entry = Entry::ReportIntermediate(&stat(seconds));
        assert_eq!(bench.run(task, entry).unwrap(), End::Finished { stop: false });
    }
    bench.run(task, Entry::ReportEnd).unwrap();
    bench.host.printed
}

#[test]
fn hooks_are_called_only_where_they_are_set() {
    let mut bench = Bench::new("sysbench.hooks.report_cumulative = function(s) print(s.latency_max) end");
    let task = bench.spawn(0);
    assert_eq!(bench.run(task, Entry::ReportIntermediate(&stat(1.0))).unwrap(), End::Undefined);
    bench.run(task, Entry::ReportCumulative(&stat(1.0))).unwrap();
    assert_eq!(bench.host.printed, ["0.25"]);
}

#[test]
fn every_figure_is_there_under_sysbench_s_name() {
    let lines = reported(
        "function(s)
           local names = {}
           for name in pairs(s) do names[#names + 1] = name end
           table.sort(names)
           for n, name in ipairs(names) do names[n] = name .. '=' .. s[name] end
           print(table.concat(names, ' '))
         end",
    );
    assert_eq!(
        lines[0],
        "concurrency=3 errors=4 events=100 latency_avg=0.002 latency_max=0.25 latency_min=0.001 \
         latency_pct=0.0015 latency_sum=0.2 other=100 queue_length=7 reads=1000 reconnects=1 threads_running=4 \
         time_interval=2 time_total=1 writes=200"
    );
}

#[test]
fn report_default_is_sysbench_s_line() {
    assert_eq!(
        reported("sysbench.report_default")[0],
        "[ 1s ] thds: 4 tps: 50.00 qps: 650.00 (r/w/o: 500.00/100.00/50.00) lat (ms,95%): 1.50 err/s 2.00 \
         reconn/s: 0.50"
    );
}

#[test]
fn report_csv_is_sysbench_s_line() {
    assert_eq!(
        reported("sysbench.report_csv"),
        [
            "1,4,50.00,650.00,500.00,100.00,50.00,1.50,2.00,0.50",
            "2,4,50.00,650.00,500.00,100.00,50.00,1.50,2.00,0.50"
        ]
    );
}

#[test]
fn report_json_is_an_array_that_the_end_closes() {
    let object = |seconds| {
        format!(
            "  {{
    \"time\":    {seconds},
    \"threads\": 4,
    \"tps\": 50.00,
    \"qps\": {{
      \"total\": 650.00,
      \"reads\": 500.00,
      \"writes\": 100.00,
      \"other\": 50.00
    }},
    \"latency\": 1.50,
    \"errors\": 2.00,
    \"reconnects\": 0.50
  }}"
        )
    };
    let expected = format!("[\n{},\n{}\n]", object(1), object(2));
    assert_eq!(reported("sysbench.report_json").join("\n"), expected);
}

#[test]
fn a_hook_may_query() {
    let mut bench = Bench::new(
        "sysbench.hooks.report_intermediate = function(s)
           con = con or sysbench.sql.driver():connect()
           con:query('SELECT 1')
         end",
    );
    let task = bench.spawn(0);
    bench.run(task, Entry::ReportIntermediate(&stat(1.0))).unwrap();
    assert_eq!(bench.host.asked, ["Connect", "query 0: SELECT 1"]);
}

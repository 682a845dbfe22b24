//! The consistency conditions of the TPC-C-like workload.

use std::fs;

use dyno_testing::dyno_test;

use crate::bench::{Bench, Ended};

/// Changes to a consistent database, each with the numbers of the conditions that it violates.
const CHANGES: [(&str, &[u32]); 8] = [
    ("UPDATE warehouse1 SET w_ytd = w_ytd + 1", &[1, 8]),
    ("UPDATE district1 SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 1", &[2]),
    ("DELETE FROM new_orders1 WHERE no_d_id = 2 AND no_o_id = 2500", &[3, 5, 11]),
    ("UPDATE orders1 SET o_ol_cnt = o_ol_cnt + 1 WHERE o_d_id = 3 AND o_id = 7", &[4, 6]),
    ("UPDATE order_line1 SET ol_delivery_d = NULL WHERE ol_d_id = 4 AND ol_o_id = 8 AND ol_number = 1", &[7]),
    ("UPDATE district1 SET d_ytd = d_ytd + 1 WHERE d_id = 5", &[1, 9]),
    ("UPDATE customer1 SET c_balance = c_balance + 1 WHERE c_d_id = 6 AND c_id = 9", &[10, 12]),
    ("UPDATE customer1 SET c_ytd_payment = c_ytd_payment + 1 WHERE c_d_id = 7 AND c_id = 9", &[12]),
];

#[dyno_test]
fn each_violated_condition_is_counted_once_on_any_number_of_threads() {
    let bench = Bench::new();
    let tpcc = |more: &[&str]| {
        let arguments = ["sysbench", "tpcc", "--db-driver=sqlite", "--sqlite-db=tpcc.db", "--scale=1"];
        bench.dyno(&[&arguments, more].concat())
    };
    assert_eq!(tpcc(&["prepare"]).status, Some(0));
    let loaded = fs::read(bench.path("tpcc.db")).unwrap();
    for threads in ["--threads=1", "--threads=2", "--threads=20"] {
        let ended = tpcc(&["check", threads]).with(0);
        let mut found = conditions(&ended);
        found.sort_unstable();
        assert_eq!(found, (1..=12).map(|number| (number, true)).collect::<Vec<_>>(), "{}", ended.stdout);
    }
    for (change, violated) in CHANGES {
        fs::write(bench.path("tpcc.db"), &loaded).unwrap();
        rusqlite::Connection::open(bench.path("tpcc.db")).unwrap().execute_batch(change).unwrap();
        let ended = tpcc(&["check"]);
        assert_eq!(ended.status, Some(1), "{change}: {}", ended.stdout);
        let mut found: Vec<u32> =
            conditions(&ended).into_iter().filter_map(|(number, holds)| (!holds).then_some(number)).collect();
        found.sort_unstable();
        assert_eq!(found, violated, "{change}: {}", ended.stdout);
        for number in violated {
            let words = format!("3.3.2.{number} in set 1, ");
            assert!(ended.stdout.contains(&words), "{change}: {}", ended.stdout);
        }
    }
    fs::write(bench.path("tpcc.db"), &loaded).unwrap();
    let purged = tpcc(&["check", "--enable_purge=yes"]).with(0);
    assert_eq!(purged.stdout.matches(": not checked, since purged orders are part of it\n").count(), 3);
}

/// Each connection checks its part, so the first to fail has only some of the findings.
#[dyno_test]
fn a_failed_check_of_several_connections_is_made_again_by_one() {
    let bench = Bench::new();
    bench.write(
        "script.lua",
        "function thread_init() con = sysbench.sql.driver():connect() end\n\
         function event() con:query('SELECT 1') end\n\
         function check() error(sysbench.opt.threads == 1 and 'all of it' or 'a part', 0) end\n\
         sysbench.cmdline.commands = { check = { check, sysbench.cmdline.PARALLEL_COMMAND } }\n",
    );
    bench.write(
        "plan.toml",
        "name = 'checked'\ntitle = 'Checks'\nbase = 'a'\nrounds = 1\nclients = [1]\nseconds = 1\nslice_seconds = 'whole'\n\
         [[system]]\nid = 'a'\nengine = 'sqlite'\n\
         [[step]]\nid = 'checked'\ngroup = 'g'\nworkload = './script.lua'\noperation = 'query'\ncheck = true\n",
    );
    assert_eq!(bench.dyno(&["run", "plan.toml"]).status, Some(1));
    let message: String = bench.value("SELECT message FROM trial").unwrap();
    assert!(message.contains("all of it"), "{message}");
}

/// The printed conditions in order, each with whether it holds.
fn conditions(ended: &Ended) -> Vec<(u32, bool)> {
    let condition = |line: &str| {
        let (number, says) = line.strip_prefix("tpcc set 1, condition 3.3.2.")?.split_once(": ")?;
        let is_of_one_row = says.contains(": VIOLATED; ") && says.ends_with("that violate it: 1");
        assert!(says.ends_with(": holds") || is_of_one_row, "{line}");
        Some((number.parse().unwrap(), says.ends_with(": holds")))
    };
    ended.stdout.lines().filter_map(condition).collect()
}

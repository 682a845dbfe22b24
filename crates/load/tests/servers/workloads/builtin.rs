//! The built-in workloads, from the creation of their tables until the tables are dropped.

use dyno_engine::Server;
use dyno_engine::testing::servers;
use dyno_load::{IoMethod, Job, Scheduler};
use dyno_testing::dyno_test;

use crate::SYSTEMS;
use crate::bench::{builtin, over_tcp, run, with_options};

const TABLES: [(&str, &str); 2] = [("tables", "3"), ("table_size", "500")];

fn number(server: &Server, sql: &str) -> u64 {
    let result = server.query(sql).unwrap_or_else(|error| panic!("{error}"));
    result.rows[0][0].as_deref().expect("not NULL").parse().expect("a number")
}

fn prepare(server: &Server) {
    let mut job = with_options(builtin(server, "oltp_read_write", "prepare"), &TABLES);
    job.connections = 2;
    assert_eq!(run(job).success().counts.rows, 1500);
}

#[dyno_test(servers(SYSTEMS))]
fn tables_are_made_filled_indexed_and_removed(server: &mut Server) {
    prepare(server);
    for table in 1..=3 {
        assert_eq!(number(server, &format!("select count(*) from sbtest{table}")), 500);
        assert_eq!(number(server, &format!("select max(id) from sbtest{table}")), 500);
    }
    let indexes = if server.access().engine == "postgres" {
        "select count(*) from pg_indexes where indexname = 'k_1'"
    } else {
        "select count(*) from information_schema.statistics where table_schema = 'sbtest' and index_name = 'k_1'"
    };
    assert_eq!(number(server, indexes), 1);
    run(with_options(builtin(server, "oltp_read_write", "cleanup"), &TABLES)).success();
    assert!(server.query("select 1 from sbtest1").is_err(), "the tables are gone");
}

#[dyno_test(servers(SYSTEMS))]
fn an_event_of_each_workload_is_counted_by_what_it_does(server: &mut Server) {
    prepare(server);
    let of = |name: &str, options: &[(&str, &str)]| {
        let mut job = with_options(with_options(builtin(server, name, "run"), &TABLES), options);
        job.events = Some(50);
        let counts = run(job).success().counts;
        assert_eq!(counts.events, 50, "{name}");
        (counts.reads, counts.writes, counts.others)
    };
    assert_eq!(of("oltp_point_select", &[]), (50, 0, 0));
    assert_eq!(of("oltp_read_only", &[]), (50 * 14, 0, 50 * 2));
    assert_eq!(of("oltp_read_only", &[("skip_trx", "on"), ("range_selects", "off")]), (50 * 10, 0, 0));
    // An update that does not change the row's value is not a write, so it counts as another query.
    let (reads, writes, others) = of("oltp_read_write", &[]);
    assert_eq!((reads, writes + others), (50 * 14, 50 * 6));
    assert!(writes >= 50 * 3, "{writes}");
    for name in ["oltp_update_index", "oltp_update_non_index", "oltp_insert", "oltp_delete"] {
        let (reads, writes, others) = of(name, &[]);
        assert_eq!((reads, writes + others), (0, 50), "{name}");
        assert!(writes > 25, "{name}: {writes}");
    }
    assert_eq!(of("select_random_points", &[]), (50, 0, 0));
    assert_eq!(of("select_random_ranges", &[]), (50, 0, 0));
}

#[dyno_test(servers(SYSTEMS))]
fn every_way_of_running_connections_does_the_same(server: &mut Server) {
    prepare(server);
    let job = || {
        let mut job = with_options(builtin(server, "oltp_read_only", "run"), &TABLES);
        job.connections = 5;
        job.events = Some(60);
        job
    };
    let ways: [(&str, Job); 5] = [
        ("event loop (io_uring)", Job { io: IoMethod::Uring, ..job() }),
        ("event loop (epoll)", Job { io: IoMethod::Epoll, loops: Some(3), ..job() }),
        ("event loop (epoll)", over_tcp(Job { io: IoMethod::Epoll, ..job() }, server)),
        ("event loop (io_uring)", over_tcp(Job { io: IoMethod::Uring, ..job() }, server)),
        ("a thread a connection (blocking calls)", Job { scheduler: Scheduler::Thread, ..job() }),
    ];
    for (method, job) in ways {
        let story = run(job);
        if story.failure.is_some() && method.contains("uring") {
            eprintln!("{method} is not to be had here: {:?}", story.failure);
            continue;
        }
        assert_eq!(story.method.as_deref(), Some(method));
        let counts = story.success().counts;
        assert_eq!(
            (counts.events, counts.reads, counts.others, counts.errors),
            (60, 840, 120, 0),
            "{method}"
        );
    }
}

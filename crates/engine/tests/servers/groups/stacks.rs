//! Stacks of the threads of real servers.

use std::thread;
use std::time::Duration;

use dyno_engine::testing::{Signal, send, servers};
use dyno_engine::{Cache, Family, FoldedStacks, Server, fold_stacks, stack_tool};
use dyno_host::{StackError, StackSampler};
use dyno_testing::dyno_test;

use crate::leftovers::wait_until;

const SAMPLES: u32 = 5;
const WAITERS: u32 = 4;
const LONG: Duration = Duration::from_secs(120);

#[dyno_test(servers(&["mariadb@10.2.11"]))]
fn connections_that_wait_for_a_lock_are_shown(server: &mut Server) {
    assert_blocked(&while_blocked_on_a_row(server), "lock_wait_suspend_thread");
}

/// Debian's build has symbols only for the functions that plugins may call, so most functions in its stacks have no
/// name.
#[dyno_test(servers(&["mariadb@10.11"]))]
fn connections_that_wait_for_a_lock_are_shown_by_a_build_with_few_symbols(server: &mut Server) {
    let found = while_blocked_on_a_row(server);
    assert_blocked(&found, "handler::ha_index_read_map");
    assert!(found.unnamed_share > 0.0, "{found:#?}");
}

#[dyno_test(servers(&["postgres@18.4"]))]
fn every_process_of_a_server_is_shown(server: &mut Server) {
    let lock = "SELECT pg_advisory_lock(1)";
    let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted";
    let found = while_blocked(server, Family::Postgres, ["BEGIN", lock], lock, waiting);
    assert_blocked(&found, "ProcSleep");
    assert!(found.stacks.iter().any(|stack| stack.kind == "checkpointer"), "{found:?}");
}

/// The stacks of MariaDB while some connections wait for a row's lock.
fn while_blocked_on_a_row(server: &Server) -> FoldedStacks {
    let mut client = server.connect(LONG).unwrap();
    client.query("CREATE TABLE sbtest.t (id INT PRIMARY KEY, n INT) ENGINE = InnoDB").unwrap();
    client.query("INSERT INTO sbtest.t VALUES (1, 0)").unwrap();
    while_blocked(
        server,
        Family::Mariadb,
        ["BEGIN", "SELECT * FROM sbtest.t WHERE id = 1 FOR UPDATE"],
        "UPDATE sbtest.t SET n = n + 1 WHERE id = 1",
        // The table `innodb_trx` is not used, because InnoDB does not update the table's contents while they are read
        // more often than every 0.1 s.
        "SELECT variable_value FROM information_schema.global_status
         WHERE variable_name = 'Innodb_row_lock_current_waits'",
    )
}

/// The stacks of a server while some connections wait for a lock that another connection holds.
fn while_blocked(
    server: &Server,
    family: Family,
    hold: [&str; 2],
    wait: &str,
    waiting: &str,
) -> FoldedStacks {
    let mut holder = server.connect(LONG).unwrap();
    for sql in hold {
        holder.query(sql).unwrap();
    }
    let mut sampler = sampler(server);
    thread::scope(|scope| {
        for _ in 0..WAITERS {
            scope.spawn(|| server.connect(LONG).unwrap().query(wait).unwrap());
        }
        wait_until("all wait", || number(server, waiting) == WAITERS);
        for _ in 0..SAMPLES {
            sampler.sample().unwrap();
        }
        // The end of the connection releases its locks.
        drop(holder);
    });
    let taken = sampler.finish();
    assert_eq!(taken.samples, SAMPLES);
    assert!(taken.sample_ms_median > 0.0);
    fold_stacks(family, &taken.stacks)
}

/// Asserts that every waiter, in every sample, is a connection's thread with the function in its stack.
fn assert_blocked(found: &FoldedStacks, function: &str) {
    let of_connections = found.stacks.iter().filter(|stack| stack.kind == "connection" && !stack.is_idle);
    let blocked = of_connections.filter(|stack| stack.frames.split(';').any(|frame| frame == function));
    assert_eq!(blocked.map(|stack| stack.count).sum::<u32>(), SAMPLES * WAITERS, "{found:#?}");
    // The connection that holds the lock waits for its client, so it counts as idle.
    let idle: u32 = found.stacks.iter().filter(|stack| stack.is_idle).map(|stack| stack.count).sum();
    assert!(idle >= SAMPLES, "{found:#?}");
    assert!(found.unnamed_share < 0.5, "{}", found.unnamed_share);
}

#[dyno_test(servers(&["mariadb@10.11"]))]
fn the_stacks_of_a_server_that_has_ended_are_kept(server: &mut Server) {
    let mut sampler = sampler(server);
    sampler.sample().unwrap();
    send(server.access().pid, Signal::KILL);
    wait_until("the server has ended", || !server.is_alive());
    let refused = sampler.sample().unwrap_err();
    assert!(matches!(refused, StackError::Ended { .. }), "{refused}");
    let taken = sampler.finish();
    assert_eq!(taken.samples, 1);
    let found = fold_stacks(Family::Mariadb, &taken.stacks);
    assert!(found.stacks.iter().any(|stack| stack.kind == "listener"), "{found:#?}");
}

fn sampler(server: &Server) -> StackSampler {
    StackSampler::new(stack_tool(&Cache::default_location()).unwrap(), server.access().pid)
}

fn number(server: &Server, sql: &str) -> u32 {
    let answer = server.connect(LONG).unwrap().query(sql).unwrap();
    answer.rows[0][0].as_deref().unwrap().parse().unwrap()
}

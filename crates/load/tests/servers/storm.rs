//! Thousands of connections at once, to a server with a short queue for new connections.

use dyno_engine::Installation;
use dyno_engine::testing::{engines, start_with};
use dyno_testing::dyno_test;

use crate::ask::every_way;
use crate::bench::{job, run};

const CONNECTIONS: u32 = 2000;

#[dyno_test(engines(&["mariadb@10.11"]))]
fn everybody_of_a_storm_of_connections_is_let_in(installation: &Installation) {
    let folder = tempfile::tempdir().expect("a folder");
    let server = start_with(installation, folder.path(), &[("max_connections", "3000"), ("back_log", "5")]);
    let source = "
        function thread_init() con = sysbench.sql.driver():connect() end
        function event() con:query('SELECT 1') end
    ";
    let mut job = job(&server, "storm", source, "run");
    job.connections = CONNECTIONS;
    job.events = Some(u64::from(CONNECTIONS));
    job.tuning.start_seconds_max = 120.0;
    for job in every_way(&job, &server) {
        let counts = run(job).success().counts;
        assert_eq!((counts.events, counts.errors), (u64::from(CONNECTIONS), 0));
    }
}

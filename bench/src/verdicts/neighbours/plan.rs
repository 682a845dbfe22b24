//! The plan: a base, an equal system, a planted difference and another engine, with one client and with four.

/// The data is in memory and nothing is synced, so that only servers and neighbours cause variation.
const SETTINGS: &str = "innodb_buffer_pool_size = \"128M\", innodb_log_file_size = \"96M\", \
    innodb_flush_log_at_trx_commit = 2, innodb_flush_log_at_timeout = 2700, performance_schema = 0";

/// Number of statements in an event, for the base and for the system with the planted difference.
const STATEMENTS: [u32; 2] = [20, 21];
/// The true ratio of the system with the planted difference to the base.
pub(super) const PLANTED: f64 = STATEMENTS[0] as f64 / STATEMENTS[1] as f64;

pub(super) const BASE: &str = "base";
pub(super) const EQUAL: &str = "equal";
pub(super) const SLOWER: &str = "slower";
pub(super) const OTHER: &str = "other";

/// The systems: id, engine and number of statements in an event. A server variable without effect carries that
/// number to the script.
const SYSTEMS: [(&str, &str, u32); 4] = [
    (BASE, "mariadb@10.11/innodb", STATEMENTS[0]),
    (EQUAL, "mariadb@10.11/innodb", STATEMENTS[0]),
    (SLOWER, "mariadb@10.11/innodb", STATEMENTS[1]),
    (OTHER, "mysql@5.6.24/innodb", STATEMENTS[0]),
];

pub(super) fn text(rounds: u32, pin_threads: bool) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/verdicts/truth/planted.lua");
    let systems = SYSTEMS.map(|(id, engine, statements)| {
        format!(
            "[[system]]\nid = \"{id}\"\nengine = \"{engine}\"\n\
             settings = {{ {SETTINGS}, max_connect_errors = {statements} }}\n"
        )
    });
    format!(
        "name = \"neighbours\"\ntitle = \"beside neighbours\"\nbase = \"{BASE}\"\nrounds = {rounds}\nclients = [1, 4]\n\
         pin_threads = {pin_threads}\nseconds = 0.4\nwarmup_seconds = 0.1\nwarm = true\n\
         [data]\ntables = 1\nrows = 10000\n{}\
         [[step]]\nid = \"load\"\ngroup = \"load\"\ncommand = \"prepare\"\nworkload = \"oltp_read_write\"\n\
         operation = \"row\"\nclients = [1]\n\
         [[step]]\nid = \"reads\"\ngroup = \"all\"\nworkload = \"{script}\"\noperation = \"transaction\"\n",
        systems.concat()
    )
}

//! The plan. One server does its work immediately, and the other postpones part of its work.

/// Number of loop iterations that are the work of an event.
const ITERATIONS: u32 = 2000;

pub(super) const AT_ONCE: &str = "at-once";
pub(super) const LATER: &str = "later";

/// Returns the plan. The servers run on a single CPU, so that postponed work takes time from current work. Two
/// clients keep that CPU busy.
pub(super) fn text(put_off_percent: u32, freeze: bool, rounds: u32, seconds: f64) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/verdicts/freeze/put_off.lua");
    let system = |id: &str, put_off: u32| {
        format!(
            "[[system]]\nid = \"{id}\"\nengine = \"mariadb@10.11/innodb\"\n\
             settings = {{ max_connect_errors = {}, performance_schema = 0 }}\n\
             confinement = {{ server_cpus = \"1\", client_cpus = \"0\" }}\n",
            put_off + 1
        )
    };
    let systems = system(AT_ONCE, 0) + &system(LATER, ITERATIONS * put_off_percent / 100);
    format!(
        "name = \"freeze\"\ntitle = \"{put_off_percent}% put off, {}\"\nbase = \"{AT_ONCE}\"\nrounds = {rounds}\n\
         clients = [2]\nseconds = {seconds}\nwarmup_seconds = 1\nfreeze = {freeze}\n{systems}\
         [[step]]\nid = \"work\"\ngroup = \"all\"\nworkload = \"{script}\"\noperation = \"query\"\n\
         options = {{ iterations = {ITERATIONS} }}\n",
        if freeze { "frozen" } else { "not frozen" }
    )
}

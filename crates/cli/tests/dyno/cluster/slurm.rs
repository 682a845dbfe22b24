//! Rounds on a Slurm of two nodes.

use dyno_testing::dyno_test;
use rustix::process::Signal;

use super::slurm_daemons::Cluster;
use super::{COMPLETE, Working, on, plan};
use crate::bench::{Bench, Ended, eventually, press_ctrl_c, send};

const RUN: [&str; 4] = ["run", "plan.toml", "--on", "slurm"];

/// Runs all tests in sequence on one Slurm, because a Slurm takes seconds to start.
#[dyno_test(on(Cluster::start))]
fn a_run_survives_its_nodes_and_its_submitter(bench: &Bench, cluster: &mut Cluster) {
    ctrl_c_cancels_what_it_submitted_and_nothing_else(bench, cluster);
    a_killed_submitter_finds_its_jobs_again(bench, cluster);
    a_round_of_a_node_that_breaks_is_run_again(bench, cluster);
}

fn ctrl_c_cancels_what_it_submitted_and_nothing_else(bench: &Bench, cluster: &mut Cluster) {
    bench.write("plan.toml", &plan(20.0));
    let mut dyno = Working::start(bench, cluster.dyno(bench, &RUN));
    dyno.wait_for("begins on");
    let other = ["--array=0", "--hold", "--job-name=other", "--wrap=true"];
    let submitted = std::process::Command::new("sbatch")
        .args(other)
        .envs(cluster.dyno(bench, &[]).get_envs().filter_map(|(name, value)| Some((name, value?))))
        .current_dir(bench.path(""))
        .output()
        .unwrap();
    assert!(submitted.status.success(), "{}", String::from_utf8_lossy(&submitted.stderr));
    press_ctrl_c(&dyno.child);
    dyno.finish().with(130);
    eventually("only the other job is in the queue", || {
        let queue = cluster.queue();
        queue.lines().count() == 1 && queue.contains("other")
    });
    eventually("the tasks have ended", || bench.processes().is_empty());
    cluster.ask("scancel", &["--name=other"]);
}

fn a_killed_submitter_finds_its_jobs_again(bench: &Bench, cluster: &mut Cluster) {
    bench.write("plan.toml", &plan(1.0));
    let mut dyno = Working::start(bench, cluster.dyno(bench, &RUN));
    dyno.wait_for("[1/4]");
    send(dyno.child.id(), Signal::KILL);
    dyno.finish();
    let resumed =
        Ended::from(cluster.dyno(bench, &[&RUN[..], &["--resume"]].concat()).output().unwrap()).with(0);
    assert!(
        !resumed.stderr.contains("submitted a round") && !resumed.stderr.contains("submitted 3"),
        "{}",
        resumed.stderr
    );
    assert!(resumed.stderr.contains("submitted before continue"), "{}", resumed.stderr);
    let last = "(SELECT max(id) FROM run)";
    assert_eq!(bench.value(&format!("SELECT count(*) FROM attempt WHERE run_id = {last}")), Some(4));
    assert_eq!(
        bench.value(&format!("SELECT status FROM run WHERE id = {last}")),
        Some("finished".to_owned())
    );
}

fn a_round_of_a_node_that_breaks_is_run_again(bench: &Bench, cluster: &mut Cluster) {
    for file in ["dyno.db", "dyno.db-wal", "dyno.db-shm"] {
        let _ = std::fs::remove_file(bench.path(file));
    }
    bench.write("plan.toml", &plan(3.0));
    let mut dyno = Working::start(bench, cluster.dyno(bench, &[&RUN[..], &["--full"]].concat()));
    dyno.wait_for("begins on n2");
    cluster.break_node(bench, "n2");
    let ended = dyno.finish().with(0);
    assert!(ended.stderr.contains("on n2 failed: Slurm has put it back into its queue"), "{}", ended.stderr);
    assert_eq!((bench.count("run"), bench.value(COMPLETE)), (1, Some(4)));
    let of_lost = "FROM attempt WHERE round = (SELECT round FROM attempt WHERE loss IS NOT NULL)";
    assert_eq!(bench.value(&format!("SELECT count(*) {of_lost}")), Some(2));
    assert_eq!(bench.value(&format!("SELECT node {of_lost} AND loss IS NULL")), Some("n1".to_owned()));
    assert!(ended.stdout.contains("on n2 was lost"), "{}", ended.stdout);
}

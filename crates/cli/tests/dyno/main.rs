//! Tests of `dyno` as users see it: commands, their output and exit status, and the results file.

mod bench;
mod bisect;
mod capacity;
mod cluster;
mod compare;
mod confined;
mod containers;
mod cost;
mod crash;
mod dataset;
mod disturbed;
mod doctor;
mod drive;
mod engines;
mod explain;
mod explain_plans;
mod export;
mod faults;
mod freeze;
mod help;
mod ladders;
mod load;
mod not_started;
mod otava;
mod outside;
mod packages;
mod pages;
mod plans;
mod precious;
mod queries;
mod rates;
mod remote;
mod replays;
mod results;
mod resume;
mod rounds;
mod serve;
mod servers;
mod settings;
mod sqlite;
mod stacks;
mod step_events;
mod steps;
mod suites;
mod sweeps;
mod topologies;
mod tpcc;
mod tpch;
mod traffic;
mod tune;
mod upgrades;
mod upstream;
mod usage;
mod versus;

use std::process::ExitCode;

/// Makes tests of functions. A test's name is the name of its module and of its function.
macro_rules! tests {
    ($($test:ident),* $(,)?) => {
        vec![$(libtest_mimic::Trial::test(concat!(module_path!(), "::", stringify!($test)), || {
            $test();
            Ok(())
        })),*]
    };
}
pub(crate) use tests;

fn main() -> ExitCode {
    // The longest tests come first, so that no core waits for them at the end.
    let tests = [
        cluster::tests(),
        containers::tests(),
        packages::tests(),
        pages::tests(),
        bisect::tests(),
        explain::tests(),
        explain_plans::tests(),
        servers::tests(),
        step_events::tests(),
        topologies::tests(),
        stacks::tests(),
        rounds::tests(),
        capacity::tests(),
        rates::tests(),
        replays::tests(),
        upgrades::tests(),
        tpch::tests(),
        tpcc::tests(),
        tune::tests(),
        usage::tests(),
        help::tests(),
        versus::tests(),
        sqlite::tests(),
        suites::tests(),
        sweeps::tests(),
        ladders::tests(),
        precious::tests(),
        faults::tests(),
        freeze::tests(),
        load::tests(),
        drive::tests(),
        disturbed::tests(),
        doctor::tests(),
        not_started::tests(),
        plans::tests(),
        resume::tests(),
        results::tests(),
        outside::tests(),
        serve::tests(),
        compare::tests(),
        cost::tests(),
        export::tests(),
        otava::tests(),
        traffic::tests(),
        dataset::tests(),
        engines::tests(),
        upstream::tests(),
        settings::tests(),
        queries::tests(),
        confined::tests(),
        crash::tests(),
        remote::tests(),
    ];
    dyno_engine::testing::main(tests.into_iter().flatten().collect())
}

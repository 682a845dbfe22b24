//! Tests of `dyno` as users see it: commands, their output and exit status, and the results file.

mod bench;
mod cluster;
mod command_line;
mod engine;
mod host;
mod packages;
mod plans;
mod read;
mod run;
mod search;
mod workloads;

use std::process::ExitCode;

/// Makes tests from functions. A test's name consists of the names of its module and its function.
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
    // The longest tests come first, so that no core waits for them at the end. The tests of engines come last,
    // because they unpack archives and start other programs. In this order they rarely run at the same time as the
    // tests of proofs, which they would disturb.
    let tests = [
        cluster::tests(),
        packages::tests(),
        search::tests(),
        workloads::tests(),
        run::tests(),
        plans::tests(),
        read::tests(),
        command_line::tests(),
        host::tests(),
        engine::tests(),
    ];
    dyno_engine::testing::main(tests.into_iter().flatten().collect())
}

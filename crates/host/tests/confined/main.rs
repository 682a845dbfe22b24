//! Confinements on the real kernel. They need root, loop devices and cgroups. If a requirement is missing, the
//! tests are ignored, and the missing requirement is printed.

mod left;
mod made;
mod power;
mod rights;
mod slow;

use std::process::ExitCode;

use dyno_host::{Confinement, IoLimits};
use libtest_mimic::{Arguments, Completion, Trial};

fn main() -> ExitCode {
    // Some tests need a process that is killed, or a process of another user. They start this program again in
    // another role.
    if let Ok(role) = std::env::var(left::ROLE) {
        return left::play(&role);
    }
    let mut tests = made::tests();
    tests.extend(left::tests());
    tests.extend(rights::tests());
    tests.extend(power::tests());
    tests.extend(slow::tests());
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}

/// A confinement with a limit of each kind, on a small volume.
fn everything() -> Confinement {
    Confinement {
        server_cpus: Some("0".parse().unwrap()),
        client_cpus: None,
        memory_bytes: Some(64 << 20),
        io: IoLimits { write_bytes_per_second: Some(8 << 20), ..IoLimits::of_iops(200) },
        volume_bytes: Some(64 << 20),
        ..Confinement::default()
    }
}

/// A test that needs the rights for all kinds of limits.
fn privileged_test(name: &str, test: impl FnOnce() + Send + 'static) -> Trial {
    confined_test(name, everything, test)
}

/// A test that needs the rights to create this confinement.
fn confined_test(
    name: &str,
    confinement: fn() -> Confinement,
    test: impl FnOnce() + Send + 'static,
) -> Trial {
    Trial::ignorable_test(name, move || {
        if let Err(missing) = confinement().check_rights() {
            return Ok(Completion::ignored_with(missing.to_string()));
        }
        test();
        Ok(Completion::Completed)
    })
}

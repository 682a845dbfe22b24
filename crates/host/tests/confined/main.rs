//! Confinements on the real kernel. They need root, loop devices and cgroups. If a requirement is missing, the
//! tests are ignored, and the missing requirement is printed.

mod left;
mod made;
mod power;
mod rights;
mod slow;

use std::process::ExitCode;

use dyno_host::{Confinement, IoLimits, Missing};
use dyno_testing::{Completion, Trial};

fn main() -> ExitCode {
    // Some tests need a process that is killed, or a process of another user. They start this program again in
    // another role.
    if let Ok(role) = std::env::var(left::ROLE) {
        return left::play(&role);
    }
    dyno_testing::main(&[])
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

/// Makes a test that needs the rights for all kinds of limits.
fn privileged(name: &str, test: fn()) -> Vec<Trial> {
    with_rights(|| everything().check_rights())(name, test)
}

/// Returns a function that makes a test that needs rights. If this user lacks a right, the test is ignored, with the
/// reason.
fn with_rights(check: fn() -> Result<(), Missing>) -> impl Fn(&str, fn()) -> Vec<Trial> {
    move |name, test| {
        vec![Trial::ignorable_test(name, move || match check() {
            Ok(()) => {
                test();
                Ok(Completion::Completed)
            }
            Err(missing) => Ok(Completion::ignored_with(missing.to_string())),
        })]
    }
}

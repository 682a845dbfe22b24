//! Helpers of tests that need real servers, behind the feature `testing`.
//!
//! Engines are fetched into Dyno's cache. If an engine is not available, its test is reported as ignored, with the
//! reason. With `DYNO_REQUIRE_ENGINES=1` it fails instead. In lists of engines, those with a large download are tested
//! only with `DYNO_LARGE_ENGINES=1`.

mod authority;
mod network;
pub mod python;
mod signals;
mod vendor;
mod wait;

use std::env;
use std::path::Path;
use std::sync::Arc;

use dyno_host::{Confined, Confinement};
use dyno_testing::{Completion, Failed, Trial};

pub use self::authority::{Authority, Identity, start_with_tls};
pub use self::network::own_address;
pub use self::signals::{Signal, go_on, pause, send};
pub use self::vendor::{Answer, Proxy, Vendor};
pub use self::wait::wait_until;
use crate::cache::installation::Installation;
use crate::cache::location::Cache;
use crate::catalogue::Catalogue;
use crate::catalogue::entry::Entry;
use crate::source::fetch::fetch;
use crate::start::server::{Server, StartOptions, start};

/// Limit of the size of a download, in bytes. In tests of a list of engines, an engine above this limit is left out
/// without `DYNO_LARGE_ENGINES=1`.
const LARGE_BYTES: u64 = 60_000_000;

/// A maker of a test that needs an engine, but not as an argument.
pub fn with_engine(engine: &'static str) -> impl Fn(&str, fn()) -> Vec<Trial> {
    move |name, test| {
        let run = move |_: &Installation| {
            test();
            Ok(())
        };
        vec![engine_test(name, engine, run)]
    }
}

/// A maker of a test for each of some engines, such as `mariadb@10.11`.
pub fn engines(engines: &'static [&'static str]) -> impl Fn(&str, fn(&Installation)) -> Vec<Trial> {
    move |name, test| {
        each(engines, name, |engine| {
            engine_test(name, engine, move |installation| {
                test(installation);
                Ok(())
            })
        })
    }
}

/// Like [`engines`], for functions that also get the system's name.
pub fn named_engines(
    systems: &'static [&'static str],
) -> impl Fn(&str, fn(&Installation, &'static str)) -> Vec<Trial> {
    move |name, test| {
        each(systems, name, |system| {
            engine_test(name, system, move |installation| {
                test(installation, system);
                Ok(())
            })
        })
    }
}

/// A maker of a test for a running server of each of some systems, such as `mariadb@10.11/rocksdb`.
pub fn servers(systems: &'static [&'static str]) -> impl Fn(&str, fn(&mut Server)) -> Vec<Trial> {
    move |name, test| each(systems, name, |system| server_test(name, system, test))
}

/// Like [`servers`], for functions that also get the system's name.
pub fn named_servers(
    systems: &'static [&'static str],
) -> impl Fn(&str, fn(&mut Server, &'static str)) -> Vec<Trial> {
    move |name, test| {
        each(systems, name, |system| server_test(name, system, move |server| test(server, system)))
    }
}

/// A maker of a test of confined servers for each of some systems. A test is ignored, with the reason, if this user has
/// no right to confine.
pub fn confined(
    systems: &'static [&'static str],
    confinement: fn() -> Confinement,
) -> impl Fn(&str, fn(&Installation, &'static str)) -> Vec<Trial> {
    move |name, test| {
        each(systems, name, |system| match confinement().check_rights() {
            Ok(()) => engine_test(name, system, move |installation| {
                test(installation, system);
                Ok(())
            }),
            Err(missing) => ignored(name, system, missing.to_string()),
        })
    }
}

/// Makes a test for each system. Tests of large engines are ignored unless they are asked for.
fn each(systems: &[&'static str], name: &str, test: impl Fn(&'static str) -> Trial) -> Vec<Trial> {
    let reason = "its engine is large; DYNO_LARGE_ENGINES=1 fetches it";
    let of_system = |system: &&'static str| {
        if is_left_out(&entry(system)) { ignored(name, system, reason.to_owned()) } else { test(system) }
    };
    systems.iter().map(of_system).collect()
}

/// Whether the tests of a list leave an engine out, because its download is large.
pub fn is_left_out(engine: &Entry) -> bool {
    engine.download_bytes > LARGE_BYTES && !is_set("DYNO_LARGE_ENGINES")
}

/// A test of a running server of a system.
pub fn server_test(
    name: &str,
    system: &'static str,
    test: impl FnOnce(&mut Server) + Send + 'static,
) -> Trial {
    engine_test(name, system, move |installation| {
        let folder = tempfile::tempdir()?;
        test(&mut start_in(folder.path(), installation, system));
        Ok(())
    })
}

/// A test that needs a system's engine. Makers of tests use this function.
pub fn engine_test(
    name: &str,
    system: &'static str,
    test: impl FnOnce(&Installation) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    Trial::ignorable_test(format!("{name} {system}"), move || match installation(system) {
        Ok(installation) => test(&installation).map(|()| Completion::Completed),
        Err(reason) if is_set("DYNO_REQUIRE_ENGINES") => Err(Failed::from(reason)),
        Err(reason) => Ok(Completion::ignored_with(reason)),
    })
}

fn ignored(name: &str, system: &str, reason: String) -> Trial {
    Trial::ignorable_test(format!("{name} {system}"), move || Ok(Completion::ignored_with(reason)))
}

/// Starts a server of a system with its data below a folder.
///
/// # Panics
/// The server does not start.
pub fn start_in(folder: &Path, installation: &Installation, system: &str) -> Server {
    let storage_engine = system.split_once('/').map(|(_, name)| name.to_owned());
    let options = StartOptions { storage_engine, ..StartOptions::new(folder) };
    start(installation, options).unwrap_or_else(|error| panic!("{error}"))
}

/// Starts a server with a test's own settings, and with its data below a folder.
///
/// # Panics
/// The server does not start.
pub fn start_with(installation: &Installation, folder: &Path, settings: &[(&str, &str)]) -> Server {
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let options = StartOptions { settings, ..StartOptions::new(folder) };
    start(installation, options).unwrap_or_else(|error| panic!("{error}"))
}

/// Starts a server of a system inside a confinement. The confinement lasts until its last user drops it.
///
/// # Panics
/// The server does not start.
pub fn start_inside(
    confined: &Arc<Confined>,
    installation: &Installation,
    system: &str,
    settings: &[(&str, &str)],
) -> Server {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let folder = confined.volume().map_or_else(env::temp_dir, Path::to_owned);
    let options = StartOptions {
        storage_engine: system.split_once('/').map(|(_, name)| name.to_owned()),
        settings: settings.iter().map(own).collect(),
        confined: Some(Arc::clone(confined)),
        ..StartOptions::new(folder)
    };
    start(installation, options).unwrap_or_else(|error| panic!("{error}"))
}

/// The engine of a system. Fetches it if missing.
///
/// # Errors
/// The engine is not available. The error says why.
///
/// # Panics
/// The catalogue has no such system.
pub fn installation(system: &str) -> Result<Installation, String> {
    fetch(&entry(system), &Cache::default_location(), &mut |_| ()).map_err(|error| error.to_string())
}

fn entry(system: &str) -> Entry {
    let name = system.parse().unwrap_or_else(|error| panic!("{error}"));
    Catalogue::builtin().find(&name).unwrap_or_else(|error| panic!("{error}"))
}

fn is_set(switch: &str) -> bool {
    env::var_os(switch).is_some_and(|value| value == "1")
}

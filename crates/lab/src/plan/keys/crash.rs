//! The plan's table `[crash]`.

use dyno_crash::{CLIENTS_MAX, COMMITS_MAX, CRASHES_MAX, CrashOptions, VOLUME_BYTES_MIN};
use dyno_settings::CrashKind;
use serde::Deserialize;

use crate::plan::derive::select::check_systems;
use crate::plan::derive::select::fits;
use crate::plan::keys::systems::system::System;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{At, Size, Whole};

/// Crash tests that follow the rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct CrashTests {
    pub kind: CrashKind,
    /// Number of crashes of each system.
    pub crashes: u32,
    /// Minimum number of acknowledged commits before each crash.
    pub commits: u64,
    /// Number of clients. `None` uses the default for the engine.
    pub clients: Option<u32>,
    /// Size of the volume whose power is cut, in bytes.
    pub volume_bytes: u64,
    /// Patterns of the ids of the systems to crash. If the list is empty, all systems that Dyno starts are crashed.
    systems: Vec<String>,
}

/// Crashes systems under load after the rounds, and checks whether they lost acknowledged commits;
/// docs/do/crash.md.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct CrashTable {
    /// The kind of crash: processes are killed, or the power of the disk below the data is cut, which needs root.
    #[cfg_attr(test, schemars(with = "crate::plan::schema::Words<CrashKind>"))]
    kill: CrashKind,
    /// Number of crashes of each system (default 50).
    crashes: Option<Whole<1, { CRASHES_MAX as u64 }>>,
    /// Least number of acknowledged commits before each crash (default 2000).
    commits: Option<Whole<1, COMMITS_MAX>>,
    /// Number of clients (default 16, and 4 for SQLite).
    clients: Option<Whole<1, { CLIENTS_MAX as u64 }>>,
    /// Size of the volume whose power is cut, at least 256M (default 4G).
    volume: Option<At<Size>>,
    /// The systems to crash; * matches any text. By default all that Dyno starts.
    #[serde(default)]
    systems: Vec<At<String>>,
}

impl CrashTable {
    pub(in crate::plan) fn read(self, systems: &[System]) -> Result<CrashTests, Mistake> {
        let defaults = CrashOptions::new(self.kill, true);
        let volume = |size: At<Size>| {
            size.read(|size| {
                let is_enough = size.0 >= VOLUME_BYTES_MIN;
                if is_enough { Ok(size.0) } else { Err("`volume` must be at least 256M".to_owned()) }
            })
        };
        let pattern = |pattern: At<String>| pattern.read(|text| check_systems(&text, systems).map(|()| text));
        Ok(CrashTests {
            kind: self.kill,
            crashes: self.crashes.map_or(defaults.crashes, |crashes| crashes.0 as u32),
            commits: self.commits.map_or(defaults.commits, |commits| commits.0),
            clients: self.clients.map(|clients| clients.0 as u32),
            volume_bytes: self.volume.map(volume).transpose()?.unwrap_or(defaults.volume_bytes),
            systems: self.systems.into_iter().map(pattern).collect::<Result<_, _>>()?,
        })
    }
}

impl CrashTests {
    /// Returns whether a system is crashed. Controls and running servers (`dsn`) are never crashed.
    pub(crate) fn crashes(&self, system: &System) -> bool {
        system.source.is_started_by_dyno()
            && system.control_of.is_none()
            && (self.systems.is_empty() || self.systems.iter().any(|pattern| fits(pattern, &system.id)))
    }

    /// Returns the options of the crash test of a system. `seed` is the seed of the run.
    pub(crate) fn options(&self, has_server: bool, seed: u64) -> CrashOptions {
        let defaults = CrashOptions::new(self.kind, has_server);
        CrashOptions {
            crashes: self.crashes,
            commits: self.commits,
            clients: self.clients.unwrap_or(defaults.clients),
            volume_bytes: self.volume_bytes,
            seed,
            ..defaults
        }
    }
}

#[cfg(test)]
mod tests {
    use dyno_settings::CrashKind;

    use crate::plan::testing::{TEXT, parse};

    #[test]
    fn crash_tests_have_defaults_and_name_the_systems() {
        let plan = parse(&format!("{TEXT}\n[crash]\nkill = \"process\"\n")).unwrap();
        let tests = plan.crash.as_ref().unwrap();
        assert_eq!((tests.kind, tests.crashes, tests.commits), (CrashKind::Process, 50, 2000));
        assert_eq!((tests.options(true, 7).clients, tests.options(false, 7).clients), (16, 4));
        assert!(tests.crashes(&plan.systems[0]));
        assert!(parse(TEXT).unwrap().crash.is_none());
        let one =
            parse(&format!("{TEXT}\n[crash]\nkill = \"power\"\ncrashes = 3\nsystems = [\"b\"]\n")).unwrap();
        let tests = one.crash.as_ref().unwrap();
        let crashed: Vec<&str> = one
            .systems
            .iter()
            .filter(|system| tests.crashes(system))
            .map(|system| system.id.as_str())
            .collect();
        assert_eq!((tests.kind, tests.crashes, crashed), (CrashKind::Power, 3, vec!["b"]));
    }

    #[test]
    fn a_wrong_crash_test_is_told_with_its_line() {
        for (wrong, what) in [
            ("kill = \"fire\"", "`kill` cannot be `fire`; there are: process, power"),
            ("kill = \"power\"\nvolume = \"1M\"", "`volume` must be at least 256M"),
            ("kill = \"process\"\nsystems = [\"nobody\"]", "nobody"),
            ("kill = \"process\"\ncrashes = 0", "from 1 to 10000"),
        ] {
            let error = parse(&format!("{TEXT}\n[crash]\n{wrong}\n")).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}

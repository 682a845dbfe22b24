//! Tests that need no database. Dyno offers only the tests whose figures equal those of sysbench.

mod cpu;

use dyno_kernels::Event;

use crate::failure::Failure;
use crate::job::unknown_option;
use crate::options::settings::Settings;
use crate::options::{Checked as _, Definition, Given, Values};
use crate::report::ReportedWork;

/// A test that needs no database.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Native {
    pub(crate) name: &'static str,
    /// A description of the test, in one line.
    pub(crate) summary: &'static str,
    pub(crate) options: &'static [Definition],
    build: fn(&Values, &Settings) -> Built,
}

/// A test, ready to be run.
pub(crate) struct Built {
    pub(crate) subject: ReportedWork,
    /// The text that is printed before the test begins.
    pub(crate) introduction: String,
    /// An event for each thread.
    pub(crate) threads: Vec<Event>,
}

pub(crate) const TESTS: &[Native] = &[cpu::TEST];

/// Says what to use in place of a test of sysbench that Dyno does not offer. `None` for all other names.
pub(crate) fn instead_of(name: &str) -> Option<&'static str> {
    match name {
        "fileio" => Some("use fio, which measures files and disks"),
        "memory" | "mutex" | "threads" => Some("use sysbench: the test measures its own compiled code"),
        _ => None,
    }
}

/// The test with this name.
pub(crate) fn find(name: &str) -> Option<&'static Native> {
    TESTS.iter().find(|test| test.name == name)
}

impl Native {
    /// Reads the values of the test's own options, and makes the test that they describe.
    pub(crate) fn build(&self, given: &[Given], settings: &Settings) -> Result<Built, Failure> {
        Ok((self.build)(&self.values(given)?, settings))
    }

    fn values(&self, given: &[Given]) -> Result<Values, Failure> {
        let mut values = Values::of_test(self.options);
        for option in given {
            let Some(definition) = self.options.iter().find(|known| known.name == option.name) else {
                return Err(unknown_option(option, self.options.iter().map(|known| known.name)));
            };
            let value = option.value.as_deref().or(definition.kind.implied()).unwrap_or_default();
            if let Some(expected) = definition.kind.wrong(value) {
                let name = definition.name;
                return Err(Failure::usage(format!(
                    "invalid value of --{name}: '{value}' is not {expected}"
                )));
            }
            values.set(definition.name, value);
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(name: &str, value: &str) -> Given {
        Given { name: name.into(), value: Some(value.into()) }
    }

    #[test]
    fn a_test_takes_its_own_options_only() {
        let cpu = find("cpu").unwrap();
        assert_eq!(cpu.values(&[given("cpu-max-prime", "7")]).unwrap().whole("cpu-max-prime"), 7);
        assert_eq!(cpu.values(&[]).unwrap().whole("cpu-max-prime"), 10_000);
        let wrong = cpu.values(&[given("memory-oper", "read")]).unwrap_err();
        assert_eq!(wrong, Failure::usage("invalid option: --memory-oper=read"));
        let wrong = cpu.values(&[given("cpu-max-prime", "x")]).unwrap_err();
        assert_eq!(
            wrong,
            Failure::usage("invalid value of --cpu-max-prime: 'x' is not a whole number from 1 on")
        );
    }
}

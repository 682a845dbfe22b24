//! Parses the command line: `[options] [test] [command]`, with options in any order.

use std::ffi::OsString;

use super::config_file;
use super::definition::Checked as _;
use super::general;
use super::values::Values;
use crate::failure::Failure;

/// The parsed command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    /// Options common to all tests.
    pub(crate) values: Values,
    /// All other options, in the order given. Only the test or the script can check them.
    pub(crate) others: Vec<Given>,
    /// Name of a built-in test, or of a script.
    pub(crate) test: Option<String>,
    pub(crate) command: Option<String>,
    /// All arguments as they were given, with the values of passwords removed.
    pub(crate) written: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

/// An option as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    /// The name, with dashes between its words.
    pub(crate) name: String,
    /// The text after the `=`.
    pub(crate) value: Option<String>,
}

impl Given {
    fn new(name: &str, value: Option<&str>) -> Self {
        Self { name: name.replace('_', "-"), value: value.map(str::to_owned) }
    }

    /// The option in the form of the command line.
    pub(crate) fn as_written(&self) -> String {
        match &self.value {
            Some(value) => format!("--{}={value}", self.name),
            None => format!("--{}", self.name),
        }
    }
}

impl Arguments {
    /// Parses arguments, without the program's name. The options of a `--config-file` count as if they were given at
    /// its position.
    pub(crate) fn parse(arguments: &[OsString]) -> Result<Self, Failure> {
        let (mut parsed, mut words) = (Self::default(), Vec::new());
        for argument in arguments {
            let Some(argument) = argument.to_str() else {
                return Err(Failure::usage(format!("not UTF-8: {}", argument.display())));
            };
            parsed.take(argument, &mut words)?;
            parsed.written.push(without_secret(argument).to_owned());
        }
        let mut words = words.into_iter();
        // If `--test` names the test, the first word is the command. Otherwise the first word is the test.
        parsed.test = parsed.test.or_else(|| words.next());
        parsed.command = words.next();
        match words.next() {
            None => Ok(parsed),
            Some(more) => {
                Err(Failure::usage(format!("unexpected argument: {more} (options are written --name=value)")))
            }
        }
    }

    fn take(&mut self, argument: &str, words: &mut Vec<String>) -> Result<(), Failure> {
        if argument == "--" {
            return Err(Failure::usage("invalid option: --"));
        }
        if let Some(option) = argument.strip_prefix("--") {
            let (name, value) =
                option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
            return self.set(Given::new(name, value));
        }
        words.push(argument.to_owned());
        Ok(())
    }

    fn set(&mut self, given: Given) -> Result<(), Failure> {
        let Some(option) = general::find(&given.name) else {
            self.others.push(given);
            return Ok(());
        };
        let definition = &option.definition;
        let Some(value) = given.value.as_deref().or(definition.kind.implied()) else {
            return Err(Failure::usage(format!("--{0} needs a value: --{0}=…", given.name)));
        };
        if let Some(expected) = definition.kind.wrong(value) {
            return Err(Failure::usage(format!(
                "invalid value of --{}: '{value}' is not {expected}",
                given.name
            )));
        }
        if given.name == "config-file" {
            for line in config_file::read(value)? {
                self.set(Given::new(&line.name, line.value.as_deref()))?;
            }
        }
        if given.name == "test" {
            self.warnings.push("--test is deprecated, write the test without it".to_owned());
            self.test = Some(value.to_owned());
        }
        if let Some(newer) = option.older_name_of {
            self.warnings.push(format!("--{} is deprecated, use --{newer} instead", definition.name));
        }
        if !option.has_effect {
            self.warnings.push(format!("--{} has no effect here", definition.name));
        }
        self.values.set(definition.name, value);
        if let Some(newer) = option.older_name_of {
            self.values.set(newer, value);
        }
        Ok(())
    }
}

/// Returns the argument. If its option is secret, the value is removed.
fn without_secret(argument: &str) -> &str {
    let name = argument.split('=').next().unwrap_or_default();
    let option = general::find(&name.trim_start_matches('-').replace('_', "-"));
    if option.is_some_and(|option| option.is_secret) { name } else { argument }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Arguments, Failure> {
        Arguments::parse(&arguments.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn options_stand_anywhere_and_words_are_test_and_command() {
        let parsed = parse(&["--threads=4", "cpu", "--cpu_max_prime=7", "run", "--debug"]).unwrap();
        assert_eq!((parsed.test.as_deref(), parsed.command.as_deref()), (Some("cpu"), Some("run")));
        assert_eq!(parsed.values.text("threads"), "4");
        assert!(parsed.values.flag("debug"));
        assert_eq!(parsed.others, [Given::new("cpu-max-prime", Some("7"))]);
        assert_eq!(parsed.others[0].as_written(), "--cpu-max-prime=7");
    }

    #[test]
    fn underscores_are_dashes_and_the_last_value_counts() {
        let parsed = parse(&["--mysql_user=a", "--mysql-user=b", "--mysql-password"]).unwrap();
        assert_eq!(parsed.values.text("mysql-user"), "b");
        assert_eq!(parsed.values.text("mysql-password"), "");
    }

    #[test]
    fn old_names_still_work_with_a_warning() {
        let parsed = parse(&["--num-threads=3", "--max-requests=9", "--tx-rate=5", "--max-time=2"]).unwrap();
        for (name, value) in [("threads", "3"), ("events", "9"), ("rate", "5"), ("time", "2")] {
            assert_eq!(parsed.values.text(name), value);
        }
        assert_eq!(parsed.warnings[0], "--num-threads is deprecated, use --threads instead");
        assert_eq!(parsed.warnings.len(), 4);
    }

    #[test]
    fn the_test_may_be_an_option_wherever_it_stands() {
        for arguments in [["--test=a.lua", "run"], ["run", "--test=a.lua"]] {
            let parsed = parse(&arguments).unwrap();
            assert_eq!((parsed.test.as_deref(), parsed.command.as_deref()), (Some("a.lua"), Some("run")));
            assert_eq!(parsed.warnings, ["--test is deprecated, write the test without it"]);
        }
        assert!(parse(&["--test=a.lua", "run", "more"]).is_err());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases = [
            (
                &["--threads=abc"][..],
                "invalid value of --threads: 'abc' is not a whole number from 1 to 1000000",
            ),
            (&["--threads"], "--threads needs a value: --threads=…"),
            (&["--debug=maybe"], "invalid value of --debug: 'maybe' is not on or off"),
            (&["--", "cpu"], "invalid option: --"),
            (&["cpu", "run", "more"], "unexpected argument: more (options are written --name=value)"),
            (
                &["--db-driver=oracle"],
                "invalid value of --db-driver: 'oracle' is not one of mysql, pgsql, sqlite",
            ),
        ];
        for (arguments, message) in cases {
            assert_eq!(parse(arguments).unwrap_err().to_string(), message);
        }
    }
}

//! The header before a test.

use std::fmt::Write as _;

use crate::options::settings::{Seed, Settings};

/// The options of a run, in the words that sysbench prints.
pub(crate) fn header(settings: &Settings) -> String {
    let mut text =
        format!("Running the test with following options:\nNumber of threads: {}\n", settings.threads);
    if settings.warmup_seconds > 0.0 {
        let _ = writeln!(text, "Warmup time: {}s", settings.warmup_seconds);
    }
    if settings.rate.is_some() {
        let _ = writeln!(text, "Target transaction rate: {}/sec", settings.rate_text);
    }
    if let Some(seconds) = settings.interval_seconds {
        let _ = writeln!(text, "Report intermediate results every {seconds} second(s)");
    }
    if !settings.checkpoints_seconds.is_empty() {
        let checkpoints: Vec<String> = settings.checkpoints_seconds.iter().map(f64::to_string).collect();
        let _ = writeln!(text, "Report checkpoint(s) at {} seconds", checkpoints.join(", "));
    }
    if settings.debug {
        text += "Debug mode enabled.\n\n";
    }
    if settings.validate {
        text += "Validation checks: on.\n\n";
    }
    match settings.seed {
        Seed::Clock(_) => text += "Initializing random number generator from current time\n\n",
        Seed::Given(seed) => {
            let _ = writeln!(text, "Initializing random number generator from seed ({seed}).\n");
        }
    }
    if let (Some(seconds), Some(patience_seconds)) = (settings.seconds, settings.forced_shutdown_seconds) {
        let _ = writeln!(text, "Forcing shutdown in {} seconds", seconds + patience_seconds);
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::options::Arguments;

    fn header_of(arguments: &[&str]) -> String {
        let arguments: Vec<_> = arguments.iter().map(OsString::from).collect();
        header(&Settings::of(&Arguments::parse(&arguments).unwrap().values).unwrap())
    }

    #[test]
    fn few_options_make_a_short_header() {
        assert_eq!(
            header_of(&[]),
            "Running the test with following options:\nNumber of threads: 1\n\
             Initializing random number generator from current time\n\n\n"
        );
    }

    #[test]
    fn options_that_matter_have_a_line() {
        assert_eq!(
            header_of(&[
                "--threads=2",
                "--rate=10",
                "--report-interval=1",
                "--report-checkpoints=1,2",
                "--debug",
                "--validate",
                "--rand-seed=5",
                "--forced-shutdown=1",
            ]),
            "Running the test with following options:\nNumber of threads: 2\n\
             Target transaction rate: 10/sec\nReport intermediate results every 1 second(s)\n\
             Report checkpoint(s) at 1, 2 seconds\nDebug mode enabled.\n\nValidation checks: on.\n\n\
             Initializing random number generator from seed (5).\n\nForcing shutdown in 11 seconds\n\n"
        );
    }
}

//! Systems that cannot be fetched or started.

use std::error::Error;

use dyno_engine::StartError;

use super::error::{RunError, SystemError};

/// Words that mark errors in the logs of servers.
const ERROR_WORDS: [&str; 3] = ["ERROR", "FATAL", "PANIC"];

/// A system that did not start. The run or the round continues without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotStarted {
    pub system: String,
    /// The message of the system's failed trials, in one line: `did not start: …`.
    pub message: String,
    /// The last lines of the log of the server or of the tool that fetched it; empty if there are none.
    pub log_tail: String,
}

impl NotStarted {
    pub(crate) fn new(system: &str, error: &RunError) -> Self {
        let words = match error {
            RunError::Start {
                source: SystemError::Server(StartError::Ended { status, log, .. }), ..
            } => {
                format!("{status}\n{}", log.join("\n"))
            }
            RunError::Start { source, .. } => source.to_string(),
            RunError::Data { source, .. } => in_words(&**source),
            RunError::Fetch { entry, source } => format!("cannot fetch {entry}: {source}"),
            error => error.to_string(),
        };
        // The first line is a sentence about the program. The program's own output follows, one entry per line.
        let mut lines = words.lines().map(str::trim);
        let sentence = lines.next().unwrap_or_default().trim_end_matches(':');
        let log: Vec<&str> = lines.collect();
        let is_telling = |line: &&&str| ERROR_WORDS.iter().any(|word| line.contains(word));
        let last_words =
            log.iter().find(is_telling).or(log.last()).map_or(String::new(), |line| format!(": {line}"));
        Self {
            system: system.to_owned(),
            message: format!("did not start: {sentence}{last_words}"),
            log_tail: log.join("\n"),
        }
    }
}

/// Returns an error and its causes in one text.
fn in_words(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn not_started(source: StartError) -> NotStarted {
        NotStarted::new("b", &RunError::Start { system: "b".to_owned(), source: source.into() })
    }

    #[test]
    fn the_line_of_the_log_that_tells_is_in_the_message() {
        let log = ["Starting", "1 [ERROR] unknown variable 'x'", "1 [ERROR] Aborting"].map(str::to_owned);
        let status = "exit status: 7".to_owned();
        let error = StartError::Ended { entry: "mariadb@10.11".to_owned(), status, log: log.to_vec() };
        let NotStarted { message, log_tail, .. } = not_started(error);
        assert_eq!(message, "did not start: exit status: 7: 1 [ERROR] unknown variable 'x'");
        assert_eq!(log_tail, log.join("\n"));
    }

    #[test]
    fn without_such_a_line_it_is_the_last_and_without_a_log_the_sentence_alone() {
        let (entry, reason) = ("e".to_owned(), "refused".to_owned());
        let error =
            StartError::Silent { entry, seconds: 9, reason, log: vec!["one".to_owned(), "two".to_owned()] };
        let NotStarted { message, log_tail, .. } = not_started(error);
        assert_eq!(message, "did not start: e did not answer within 9 s (refused); its last words: two");
        assert_eq!(log_tail, "one\ntwo");
        let NotStarted { message, log_tail, .. } =
            not_started(StartError::OwnSetting { name: "port".to_owned() });
        assert_eq!(message, "did not start: the setting 'port' is set by dyno; leave it out");
        assert_eq!(log_tail, "");
    }
}

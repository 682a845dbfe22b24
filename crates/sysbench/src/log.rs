//! Output by verbosity.

use std::io::Write;

use dyno_printable::{printable, printable_lines};

/// The importance of a message, as `--verbosity` counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Fatal,
    Alert,
    Warning,
    Notice,
    Info,
    Debug,
}

impl Level {
    /// The level with this number. Numbers above 5 stand for level 5.
    pub(crate) fn of(number: u64) -> Self {
        match number {
            0 => Self::Fatal,
            1 => Self::Alert,
            2 => Self::Warning,
            3 => Self::Notice,
            4 => Self::Info,
            _ => Self::Debug,
        }
    }
}

/// The destinations of results and errors.
pub struct Console<'a> {
    /// Standard output: reports and notices. As in sysbench, also warnings and fatal errors.
    pub out: &'a mut dyn Write,
    /// Standard error: errors in the command line.
    pub err: &'a mut dyn Write,
}

/// Prints messages up to a level. Each message is one line, in which text from servers and scripts is escaped. If
/// programs read the results, important messages go to standard error, and other messages are dropped.
pub(crate) struct Log<'a> {
    console: Console<'a>,
    verbosity: Level,
    for_machines: bool,
    closed: bool,
}

impl<'a> Log<'a> {
    pub(crate) fn new(console: Console<'a>) -> Self {
        Self { console, verbosity: Level::Notice, for_machines: false, closed: false }
    }

    pub(crate) fn configure(&mut self, verbosity: Level, for_machines: bool) {
        self.verbosity = verbosity;
        self.for_machines = for_machines;
    }

    /// Whether the program that reads the results has closed its end of the pipe.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(crate) fn fatal(&mut self, message: &str) {
        self.message(Level::Fatal, &format!("FATAL: {}\n", printable(message)));
    }

    pub(crate) fn warning(&mut self, message: &str) {
        self.message(Level::Warning, &format!("WARNING: {}\n", printable(message)));
    }

    /// Prints a part of the report. `text` includes the line ends.
    pub(crate) fn notice(&mut self, text: &str) {
        self.message(Level::Notice, text);
    }

    pub(crate) fn info(&mut self, text: &str) {
        self.message(Level::Info, text);
    }

    pub(crate) fn debug(&mut self, message: &str) {
        self.message(Level::Debug, &format!("DEBUG: {}\n", printable(message)));
    }

    fn message(&mut self, level: Level, text: &str) {
        if level > self.verbosity {
            return;
        }
        // Results for programs contain no messages, so important messages go to standard error.
        if self.for_machines {
            if level <= Level::Warning {
                let _ = self.console.err.write_all(text.as_bytes());
            }
        } else {
            self.result(text);
        }
    }

    /// Prints a line of a script's output. The line is not escaped, because it is the script's own output.
    pub(crate) fn script(&mut self, line: &str) {
        if self.for_machines {
            let _ = writeln!(self.console.err, "{line}");
        } else {
            self.result(&format!("{line}\n"));
        }
    }

    /// Prints a text whatever the verbosity is.
    pub(crate) fn result(&mut self, text: &str) {
        let written = self.console.out.write_all(text.as_bytes()).and_then(|()| self.console.out.flush());
        self.closed |= written.is_err();
    }

    /// Prints an error in the command line.
    pub(crate) fn complaint(&mut self, message: &str) {
        let _ = writeln!(self.console.err, "{}", printable_lines(message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(verbosity: u64, for_machines: bool) -> (String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut log = Log::new(Console { out: &mut out, err: &mut err });
        log.configure(Level::of(verbosity), for_machines);
        log.debug("d");
        log.info("i\n");
        log.notice("n\n");
        log.warning("w");
        log.fatal("f");
        log.script("s");
        (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    }

    #[test]
    fn verbosity_counts_from_fatal_to_debug() {
        assert_eq!(printed(0, false).0, "FATAL: f\ns\n");
        assert_eq!(printed(2, false).0, "WARNING: w\nFATAL: f\ns\n");
        assert_eq!(printed(3, false).0, "n\nWARNING: w\nFATAL: f\ns\n");
        assert_eq!(printed(5, false).0, "DEBUG: d\ni\nn\nWARNING: w\nFATAL: f\ns\n");
    }

    #[test]
    fn results_for_machines_are_not_mixed_with_messages() {
        assert_eq!(printed(3, true), (String::new(), "WARNING: w\nFATAL: f\ns\n".into()));
    }
}

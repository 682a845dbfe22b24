//! The lines of a program's output that an error message shows.

use dyno_printable::printable_lines;

/// The last lines of a text, oldest first.
pub(crate) fn last(text: &[u8], count: usize) -> Vec<String> {
    keep(text, count, |_| false)
}

/// Returns the lines of a server's log that explain its end: the last lines that report an error, and the last lines of
/// the log. Both are needed, because some servers log an error and then many lines about their shutdown.
pub(crate) fn telling(log: &[u8], count: usize) -> Vec<String> {
    const TELLING: [&str; 5] = ["ERROR", "FATAL", "PANIC", "got signal", "Assertion"];
    keep(log, count, |line| TELLING.iter().any(|word| line.contains(word)))
}

/// Returns the last `count` lines for which `matters` is true, and the last `count` lines of the text, in the order of
/// the text. Skips empty lines, and escapes special characters.
fn keep(text: &[u8], count: usize, matters: fn(&str) -> bool) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let mut left = (count, count);
    let mut kept: Vec<String> = Vec::new();
    for line in text.lines().rev().filter(|line| !line.trim().is_empty()) {
        let is_kept = left.0 > 0 || (left.1 > 0 && matters(line));
        left.0 = left.0.saturating_sub(1);
        left.1 -= usize::from(left.1 > 0 && matters(line));
        kept.extend(is_kept.then(|| printable_lines(line).into_owned()));
    }
    kept.reverse();
    kept
}

/// Joins lines into a text to print below an error message.
pub(crate) fn below(lines: &[String]) -> String {
    lines.iter().flat_map(|line| ["\n    ", line]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_say_something_are_kept() {
        assert_eq!(last(b"one\ntwo\n\nthree\n\n", 2), ["two", "three"]);
        assert_eq!(last(b"one", 2), ["one"]);
        assert_eq!(last(b"\ta\r\n\x1b[2Jb\xe2\x80\xae", 2), ["\ta", "\\u{1b}[2Jb\\u{202e}"]);
        let log = b"FATAL: a\n1 [ERROR] b\nstopping\nERROR: c\nstopping\nstopped";
        assert_eq!(telling(log, 1), ["ERROR: c", "stopped"]);
        assert_eq!(telling(b"mysqld got signal 6 ;\nat\nat", 1), ["mysqld got signal 6 ;", "at"]);
        assert_eq!(telling(log, 2), ["1 [ERROR] b", "ERROR: c", "stopping", "stopped"]);
        assert_eq!(below(&last(b"one\ntwo", 2)), "\n    one\n    two");
    }
}

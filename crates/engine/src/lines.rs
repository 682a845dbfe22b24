//! The end of what a program printed, for error messages.

/// The last lines of a text, oldest first.
pub(crate) fn last(text: &[u8], count: usize) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    all[all.len().saturating_sub(count)..].iter().map(ToString::to_string).collect()
}

/// Each line below the message that it belongs to.
pub(crate) fn below(lines: &[String]) -> String {
    lines.iter().flat_map(|line| ["\n    ", line]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_that_say_something_are_kept() {
        assert_eq!(last(b"one\ntwo\n\nthree\n\n", 2), ["two", "three"]);
        assert_eq!(last(b"one", 2), ["one"]);
        assert_eq!(below(&last(b"one\ntwo", 2)), "\n    one\n    two");
    }
}

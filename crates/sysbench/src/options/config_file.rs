//! Options in a file: one `name=value` or `name` per line. Blank lines and lines that begin with `#` are
//! ignored.

use std::fs;

use crate::failure::Failure;

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) value: Option<String>,
}

pub(super) fn read(path: &str) -> Result<Vec<Line>, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read --config-file={path}: {error}")))?;
    Ok(lines(&text))
}

fn lines(text: &str) -> Vec<Line> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(line).collect()
}

fn line(line: &str) -> Line {
    let line = line.trim_start_matches("--");
    let (name, value) = line.split_once('=').map_or((line, None), |(name, value)| (name, Some(value)));
    Line { name: name.trim().to_owned(), value: value.map(|value| value.trim().to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_options_with_or_without_dashes() {
        let line = |name: &str, value: Option<&str>| Line { name: name.into(), value: value.map(Into::into) };
        assert_eq!(
            lines("threads=2\n# no\n\n--time = 1 \ndebug\nmysql-password=a=b\n"),
            [
                line("threads", Some("2")),
                line("time", Some("1")),
                line("debug", None),
                line("mysql-password", Some("a=b")),
            ]
        );
    }
}

//! Tables as clients of servers print them: CSV, or columns between tabs.

/// Reads the rows of a table, each with its fields. If the first line has a tab, the text is the output of `mysql
/// --batch`: fields are separated by tabs and contain the escapes `\n`, `\t`, `\0` and `\\` (MySQL's manual, "mysql
/// Client Options", `--batch`). Otherwise the text is CSV (RFC 4180), as `psql --csv` prints it.
pub(super) fn rows(text: &str) -> Vec<Vec<String>> {
    let first = text.lines().next().unwrap_or_default();
    if first.contains('\t') { text.lines().map(batch).collect() } else { csv(text) }
}

fn batch(line: &str) -> Vec<String> {
    line.split('\t').map(unescaped).collect()
}

fn unescaped(field: &str) -> String {
    let mut text = String::with_capacity(field.len());
    let mut letters = field.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('0') => text.push('\0'),
            Some(other) => text.push(other),
            None => text.push('\\'),
        }
    }
    text
}

fn csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut is_quoted = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => is_quoted = !is_quoted,
            letter if is_quoted => field.push(letter),
            ',' => row.push(std::mem::take(&mut field)),
            '\r' if letters.peek() == Some(&'\n') => {}
            '\n' => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            letter => field.push(letter),
        }
    }
    if !field.is_empty() || !row.is_empty() {
        row.push(field);
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_have_the_same_rows() {
        let expected = [["query", "calls"], ["SELECT \"a\",\n\t'\\' FROM t", "7"], ["", "0"]];
        assert_eq!(rows("query,calls\r\n\"SELECT \"\"a\"\",\n\t'\\' FROM t\",7\n,0"), expected);
        assert_eq!(rows("query\tcalls\nSELECT \"a\",\\n\\t'\\\\' FROM t\t7\n\t0\n"), expected);
    }

    #[test]
    fn any_text_has_rows() {
        assert!(rows("").is_empty());
        assert_eq!(rows("\"open"), [["open"]]);
        assert_eq!(rows("a\tb\\"), [["a", "b\\"]]);
    }
}

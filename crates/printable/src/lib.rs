//! Text from outside, made safe to print.
//!
//! Names and messages come from servers, scripts, archives, plans and results files of anybody. A control character in
//! one of them moves the cursor, clears the screen or begins a line that looks like one of ours; a character that
//! changes the direction of text, or that nobody sees, makes a name look like another one. Such characters are replaced
//! by what Rust and JavaScript write for them: `\n`, `\t`, `\r`, `\u{1b}`, `\u{202e}`. All other text stays as it is.
//! A backslash is not replaced, so escaping twice is the same as once.
//!
//! [`printable`] is for text that stands within a line, [`printable_lines`] for text of several lines.

mod quote;

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};

pub use quote::quote;

/// A value whose text is escaped when it is displayed, for the words of an error. Its lines become one.
#[derive(Clone, Copy, Debug)]
pub struct Printable<T>(pub T);

impl<T: Display> Display for Printable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Escaping<'a, 'b>(&'a mut fmt::Formatter<'b>);
        impl fmt::Write for Escaping<'_, '_> {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                self.0.write_str(&printable(text))
            }
        }
        write!(Escaping(f), "{}", self.0)
    }
}

/// Text as it stands within a line. Borrowed if there is nothing to escape.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, is_unprintable)
}

/// Text of several lines: line feeds stay, and tabs, which indent.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |character| !matches!(character, '\n' | '\t') && is_unprintable(character))
}

/// JSON in which each character that is not safe to print is written as JSON's own escape, so that its value is the same.
/// Line feeds and tabs stay, which JSON has between values only.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    replaced(
        json,
        |character| !matches!(character, '\n' | '\t') && is_unprintable(character),
        |out, character| {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        },
    )
}

/// Text for a page: what changes the direction of the text around it, or cannot be seen, is escaped. HTML has control
/// characters that are white space, and shows no others.
pub fn printable_html(html: &str) -> Cow<'_, str> {
    escaped(html, |character| !character.is_ascii() && is_unprintable(character))
}

/// JSON for a script of a page, whose values are shown as [`printable_html`] shows them.
pub fn printable_html_json(json: &str) -> Cow<'_, str> {
    let is_escaped = |character: char| !character.is_ascii() && is_unprintable(character);
    replaced(json, is_escaped, |out, character| {
        out.push('\\');
        out.extend(character.escape_default());
    })
}

/// Whether a character is no part of a text that is seen: a control character, a separator of lines or paragraphs, a
/// character for formatting, or none at all (Unicode's general categories Cc, Zl, Zp and Cf, and noncharacters). Marks
/// of languages that are written with them, such as U+0600, are seen and stay.
/// (<https://www.unicode.org/Public/UCD/latest/ucd/UnicodeData.txt>)
pub fn is_unprintable(character: char) -> bool {
    match character {
        ' '..='~' => false,
        // Control characters.
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        // Soft hyphen; Arabic letter mark, Mongolian vowel separator.
        | '\u{ad}' | '\u{61c}' | '\u{180e}'
        // Zero width, marks of direction.
        | '\u{200b}'..='\u{200f}'
        // Separators of lines and paragraphs; embeddings, overrides.
        | '\u{2028}'..='\u{202e}'
        // Word joiner, invisible operators; isolates.
        | '\u{2060}'..='\u{206f}'
        // Byte order mark, interlinear annotations, shorthand, music, tags.
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e007f}'
        | '\u{fdd0}'..='\u{fdef}' => true,
        _ => u32::from(character) & 0xfffe == 0xfffe,
    }
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    replaced(text, is_escaped, |out, character| out.extend(character.escape_default()))
}

/// Text with some characters replaced, in one pass. Text without any is borrowed.
fn replaced(
    text: &str,
    is_replaced: impl Fn(char) -> bool,
    replace: impl Fn(&mut String, char),
) -> Cow<'_, str> {
    // Nearly all text is such ASCII, of which bytes are looked at sooner than characters.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n')) && !is_replaced('\n') {
        return Cow::Borrowed(text);
    }
    let Some(first) = text.find(&is_replaced) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for character in text[first..].chars() {
        if is_replaced(character) {
            replace(&mut out, character);
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_the_cursor_or_hides_is_escaped() {
        for (text, shown) in [
            ("a\nerror: b", r"a\nerror: b"),
            ("a\r\tb\0", r"a\r\tb\u{0}"),
            ("\x1b[2J\x1b]0;title\x07", r"\u{1b}[2J\u{1b}]0;title\u{7}"),
            ("\u{7f}\u{80}\u{9b}31m\u{9f}\u{a0}", "\\u{7f}\\u{80}\\u{9b}31m\\u{9f}\u{a0}"),
            (
                "\u{202a}\u{202e}\u{2066}\u{2069}\u{200e}\u{200f}\u{61c}",
                r"\u{202a}\u{202e}\u{2066}\u{2069}\u{200e}\u{200f}\u{61c}",
            ),
            ("\u{2028}\u{2029}\u{85}\u{b}\u{c}", r"\u{2028}\u{2029}\u{85}\u{b}\u{c}"),
            ("a\u{200b}\u{200d}\u{2060}\u{feff}\u{ad}b", r"a\u{200b}\u{200d}\u{2060}\u{feff}\u{ad}b"),
            ("\u{e0041}\u{fffe}\u{10ffff}\u{fdd0}", r"\u{e0041}\u{fffe}\u{10ffff}\u{fdd0}"),
        ] {
            assert_eq!(printable(text), shown);
            assert_eq!(printable(shown), shown, "twice is once");
            assert_eq!(Printable(text).to_string(), shown);
        }
    }

    #[test]
    fn text_that_is_seen_is_not_copied() {
        for text in [
            "",
            "plain",
            r"C:\n",
            "größer 10 µs – „ja“",
            "日本語",
            "עברית",
            "العربية",
            "e\u{301}",
            "🚀",
            "\u{fffd}",
        ] {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text), "{text}");
        }
        assert!(matches!(printable_lines("a\nb"), Cow::Borrowed("a\nb")));
    }

    #[test]
    fn lines_stay_lines_where_there_are_several() {
        assert_eq!(printable_lines("a\n\t\x1b[1mü\r\n"), "a\n\t\\u{1b}[1mü\\r\n");
    }

    #[test]
    fn json_keeps_its_values() {
        let json = "{\n\t\"a\u{202e}\": \"\u{9b}\u{e0041}ü\u{7f}\"\n}";
        assert_eq!(printable_json(json), "{\n\t\"a\\u202e\": \"\\u009b\\udb40\\udc41ü\\u007f\"\n}");
    }

    #[test]
    fn pages_keep_their_white_space() {
        assert_eq!(printable_html("<p>\r\n\ta\u{202e}b</p>"), "<p>\r\n\ta\\u{202e}b</p>");
    }

    #[test]
    fn values_in_pages_are_those_of_their_text() {
        assert_eq!(printable_html_json("[\"a\u{202e}\"]"), r#"["a\\u{202e}"]"#);
    }

    #[test]
    fn no_character_is_escaped_into_one_that_is() {
        for character in '\0'..=char::MAX {
            let text = character.to_string();
            assert!(!printable(&text).chars().any(is_unprintable), "{character:?}");
            assert!(character.is_control() <= is_unprintable(character), "{character:?}");
        }
    }
}

//! Makes text from outside safe to print.
//!
//! Names and messages come from foreign servers, scripts, archives, plans and results files. A control
//! character in such a text moves the cursor, clears the screen, or starts a line that looks like Dyno's own.
//! An invisible character, or one that changes the direction of text, makes a name look like another. Such
//! characters are replaced by the escapes of Rust and JavaScript: `\n`, `\t`, `\r`, `\u{1b}`, `\u{202e}`. All
//! other text stays the same. A backslash is not replaced, so escaping twice gives the same text as escaping
//! once.
//!
//! Use [`printable`] for text within a line, and [`printable_lines`] for text of several lines.

mod quote;

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};

pub use quote::quote;

/// A wrapper for error messages: when the value is displayed, its text is escaped. A text of several lines becomes one
/// line.
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

/// Escapes text for display within a line. Returns the text itself, borrowed, if nothing needs an escape.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, is_unprintable)
}

/// Escapes text of several lines. Line feeds and tabs stay.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |character| !matches!(character, '\n' | '\t') && is_unprintable(character))
}

/// Escapes each unsafe character as JSON's own escapes do, so that the values stay the same. Line feeds and tabs
/// are not escaped, because in JSON they occur only between values.
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

/// Escapes text for an HTML page: invisible characters, and characters that change the direction of text. ASCII
/// control characters are not escaped, because HTML treats them as white space or does not show them.
pub fn printable_html(html: &str) -> Cow<'_, str> {
    escaped(html, |character| !character.is_ascii() && is_unprintable(character))
}

/// Escapes JSON that is embedded in a script of an HTML page. The page shows the values as [`printable_html`]
/// would.
pub fn printable_html_json(json: &str) -> Cow<'_, str> {
    let is_escaped = |character: char| !character.is_ascii() && is_unprintable(character);
    replaced(json, is_escaped, |out, character| {
        out.push('\\');
        out.extend(character.escape_default());
    })
}

/// Whether a character is not visible text: a control character, a separator of lines or paragraphs, a format
/// character, or not a character (Unicode's general categories Cc, Zl, Zp and Cf, and noncharacters). Visible
/// marks of some scripts, such as U+0600, are text although they are in these categories.
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

/// Replaces some characters in one pass. Returns the text itself, borrowed, if it contains none of them.
fn replaced(
    text: &str,
    is_replaced: impl Fn(char) -> bool,
    replace: impl Fn(&mut String, char),
) -> Cow<'_, str> {
    // Most text is plain ASCII, and checking bytes is faster than checking characters.
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

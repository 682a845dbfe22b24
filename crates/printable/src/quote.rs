//! Quotes words for a POSIX shell.

/// Quotes a word so that a shell reads it literally.
pub fn quote(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:,=@%+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_reads_what_was_written() {
        for word in ["", "plain-1.0", "two words", "it's", "$HOME `x` \\ \"q\"", "*", "a\nb", "'"] {
            let told =
                Command::new("sh").args(["-c", &format!("printf %s {}", quote(word))]).output().unwrap();
            assert_eq!(String::from_utf8(told.stdout).unwrap(), word);
        }
    }
}

//! Recognises words and texts that contain a password.

use memchr::memchr2_iter;

/// Whether a word is the name of a secret, such as `MASTER_PASSWORD`.
pub(super) fn names_secret(word: &[u8]) -> bool {
    let ends_with =
        |end: &[u8]| word.len() >= end.len() && word[word.len() - end.len()..].eq_ignore_ascii_case(end);
    match word.last() {
        Some(b'd' | b'D') => ends_with(b"password") || ends_with(b"passwd"),
        Some(b'e' | b'E') => ends_with(b"passphrase"),
        Some(b't' | b'T') => ends_with(b"secret"),
        Some(b'h' | b'H') => ends_with(b"sst_auth"),
        _ => false,
    }
}

/// Whether a text contains a password, as `password=…`, `"password": …` and `IDENTIFIED BY '…'` do. Prose that
/// mentions passwords does not count.
pub(super) fn gives_password(text: &[u8]) -> bool {
    text.len() >= b"passwd=x".len()
        && (memchr2_iter(b'w', b'W', text).any(|at| is_password_at(text, at))
            || memchr2_iter(b'f', b'F', text).any(|at| is_identified_at(text, at)))
}

fn starts_with(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word))
}

/// Whether the `w` at `at` belongs to `password` or `passwd` with a value after it.
fn is_password_at(text: &[u8], at: usize) -> bool {
    let Some(word) = at.checked_sub(b"pass".len()).map(|from| &text[from..]) else { return false };
    let name = [&b"password"[..], b"passwd"].into_iter().find(|name| starts_with(word, name));
    let Some(behind) = name.map(|name| word[name.len()..].trim_ascii_start()) else { return false };
    matches!(behind.first(), Some(b'=' | b':' | b'\'' | b'"' | b'(' | b'\\'))
}

/// Whether the `f` at `at` belongs to `IDENTIFIED BY`, `IDENTIFIED WITH` or `IDENTIFIED VIA` with a string soon after
/// it.
fn is_identified_at(text: &[u8], at: usize) -> bool {
    /// A quote must be within this many bytes, which leaves room for the name of a plugin.
    const NEAR_BYTES: usize = 80;
    let Some(word) = at.checked_sub(b"identi".len()).map(|from| &text[from..]) else { return false };
    if !starts_with(word, b"identified") {
        return false;
    }
    let behind = word[b"identified".len()..].trim_ascii_start();
    let near = &behind[..behind.len().min(NEAR_BYTES)];
    [&b"by"[..], b"with", b"via"].iter().any(|word| starts_with(behind, word))
        && near.iter().any(|byte| matches!(byte, b'\'' | b'"'))
}

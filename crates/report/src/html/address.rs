//! The address of a cell within a page. The page's script reads and writes the same form.

use std::fmt::Write as _;

/// `#cell=point-query/maria/4`.
pub(crate) fn of_cell(step: &str, system: &str, clients: u32) -> String {
    format!("#cell={}/{}/{clients}", encoded(step), encoded(system))
}

/// Encodes a component of an address as JavaScript's `encodeURIComponent` does
/// (<https://tc39.es/ecma262/#sec-encodeuricomponent-uricomponent>).
fn encoded(name: &str) -> String {
    let mut text = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_be_taken_for_parts_of_the_address() {
        assert_eq!(of_cell("read-only.range10", "maria", 4), "#cell=read-only.range10/maria/4");
        assert_eq!(of_cell("a/b&c=d", "é <", 1), "#cell=a%2Fb%26c%3Dd/%C3%A9%20%3C/1");
    }
}

//! Encodes data for a page.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dyno_printable::printable_html_json;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;

/// JSON for an element `<script type="application/json">`. The character `<` is escaped, so no value can end the
/// element.
///
/// # Panics
/// A map has keys that are not text.
pub(crate) fn json(value: &impl Serialize) -> String {
    text(value).replace('<', "\\u003c")
}

/// JSON in which control and invisible characters are escaped, as in the rest of the page.
fn text(value: &impl Serialize) -> String {
    printable_html_json(&serde_json::to_string(value).expect("every key is text")).into_owned()
}

/// JSON, deflated (RFC 1950), in base64. A browser decodes it with `DecompressionStream("deflate")`.
///
/// # Panics
/// A map has keys that are not text.
pub(crate) fn packed(value: &impl Serialize) -> String {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
    let bytes = encoder
        .write_all(text(value).as_bytes())
        .and_then(|()| encoder.finish())
        .expect("memory takes every byte");
    STANDARD.encode(bytes)
}

#[cfg(test)]
pub(crate) fn unpacked(text: &str) -> serde_json::Value {
    let bytes = STANDARD.decode(text).unwrap();
    serde_json::from_reader(flate2::read::ZlibDecoder::new(&bytes[..])).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_ends_no_script() {
        assert_eq!(json(&"</script><!--"), "\"\\u003c/script>\\u003c!--\"");
    }

    #[test]
    fn what_is_packed_comes_back() {
        let value = serde_json::json!({ "rates": [1, 2.5, null], "name": "µs" });
        assert_eq!(unpacked(&packed(&value)), value);
    }
}

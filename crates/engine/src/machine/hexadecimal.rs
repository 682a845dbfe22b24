//! Bytes in hexadecimal.

/// Returns bytes in hexadecimal: two digits for each byte, in lower case.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

//! Sizes in bytes as people write them, such as `2G`.

/// A text that is not a size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a size; write bytes, or a number with K, M, G or T (powers of 1024), such as 512M")]
pub struct SizeError {
    text: String,
}

/// Parses a size in bytes: an integer, optionally with K, M, G or T, which are powers of 1024. K, KB and KiB mean
/// the same.
///
/// # Errors
/// The text is not a size, or the size does not fit into 64 bits.
pub fn parse_bytes(text: &str) -> Result<u64, SizeError> {
    let trimmed = text.trim();
    let digits = trimmed.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let unit = trimmed[digits.len()..].trim_start().to_ascii_uppercase();
    let shift = match unit.as_str() {
        "" | "B" => Some(0),
        "K" | "KB" | "KIB" => Some(10),
        "M" | "MB" | "MIB" => Some(20),
        "G" | "GB" | "GIB" => Some(30),
        "T" | "TB" | "TIB" => Some(40),
        _ => None,
    };
    let bytes = || digits.parse::<u64>().ok()?.checked_mul(1 << shift?);
    bytes().ok_or_else(|| SizeError { text: text.to_owned() })
}

/// Formats a size with the largest unit that gives an integer.
pub(crate) fn format_bytes(bytes: u64) -> String {
    let units = [(40, "T"), (30, "G"), (20, "M"), (10, "K")];
    let fitting = units.into_iter().find(|(shift, _)| bytes != 0 && bytes.trailing_zeros() >= *shift);
    fitting.map_or_else(|| bytes.to_string(), |(shift, unit)| format!("{}{unit}", bytes >> shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_and_without_a_unit() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("12B", 12),
            ("512M", 512 << 20),
            ("1 GiB", 1 << 30),
            ("2kb", 2048),
            (" 3T ", 3 << 40),
        ] {
            assert_eq!(parse_bytes(text).unwrap(), bytes, "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "M", "1.5G", "-1", "10X", "1iB", "1MM", "1BB", "99999999999999999999", "99999999T"] {
            assert!(parse_bytes(text).unwrap_err().to_string().contains(&format!("`{text}`")), "{text}");
        }
    }

    #[test]
    fn a_size_is_written_as_it_can_be_read() {
        for (bytes, text) in [(0, "0"), (1000, "1000"), (1536, "1536"), (512 << 20, "512M"), (3 << 40, "3T")]
        {
            assert_eq!(format_bytes(bytes), text);
            assert_eq!(parse_bytes(text).unwrap(), bytes);
        }
    }
}

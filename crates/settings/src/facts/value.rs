//! Parses and normalises values as servers print them.

/// Returns the normal form of a value. The normal form is the same for `ON`, `yes` and `1`, for `128M`, `128MB` and
/// `134217728`, and for `./` and `.`. The order of a list's items does not matter.
pub fn normal(value: &str) -> String {
    let value = value.trim();
    if value.contains(',') {
        let mut items: Vec<String> = value.split(',').map(normal_item).collect();
        items.sort_unstable();
        return items.join(",");
    }
    normal_item(value)
}

/// Parses a switch; `None` if the value is not a switch.
pub fn is_on(value: &str) -> Option<bool> {
    match normal(value).as_str() {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

/// Parses a size, such as `1G`, `128MB` or `1073741824`, into bytes. `None` if the text is not a size.
pub fn bytes(value: &str) -> Option<u64> {
    let bytes = size(&value.trim().to_ascii_lowercase())?;
    (bytes >= 0.0).then_some(bytes as u64)
}

fn normal_item(item: &str) -> String {
    let item = item.trim().to_ascii_lowercase();
    match item.as_str() {
        "on" | "yes" | "true" => return "1".to_owned(),
        "off" | "no" | "false" => return "0".to_owned(),
        _ => {}
    }
    if let Some(milliseconds) = duration_ms(&item) {
        return format!("{milliseconds}ms");
    }
    match number(&item).or_else(|| size(&item)) {
        Some(number) => number.to_string(),
        None => normal_path(item),
    }
}

/// Parses decimal numbers. `inf` and `nan` are words here, not numbers.
fn number(text: &str) -> Option<f64> {
    let is_plain = text.chars().all(|c| c.is_ascii_digit() || "+-.".contains(c));
    if is_plain { text.parse().ok() } else { None }
}

/// Parses a size in lower-case letters into bytes. The size may be negative.
pub(crate) fn size(text: &str) -> Option<f64> {
    let units = [("k", 10), ("m", 20), ("g", 30), ("t", 40), ("p", 50), ("", 0)];
    let text = text.strip_suffix('b').unwrap_or(text);
    units.iter().find_map(|(unit, power)| {
        let amount = number(text.strip_suffix(unit)?)?;
        Some(amount * f64::from(1_u32 << (power % 30)) * f64::from(1_u32 << (power / 30 * 30)))
    })
}

/// Parses a time with a unit, as PostgreSQL prints it, into milliseconds.
pub(crate) fn duration_ms(text: &str) -> Option<f64> {
    let units = [
        ("us", 0.001),
        ("ms", 1.0),
        ("min", 60_000.0),
        ("s", 1000.0),
        ("h", 3_600_000.0),
        ("d", 86_400_000.0),
    ];
    units.iter().find_map(|(unit, factor)| Some(number(text.strip_suffix(unit)?)? * factor))
}

fn normal_path(text: String) -> String {
    if !text.starts_with(['/', '.']) {
        return text;
    }
    match text.trim_end_matches('/') {
        "" => "/".to_owned(),
        path => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_the_same_looks_the_same() {
        for (a, b) in [
            ("ON", "1"),
            ("yes", "TRUE"),
            ("OFF", "0"),
            ("128M", "134217728"),
            ("128MB", "134217728"),
            ("1.5k", "1536"),
            ("2T", "2199023255552"),
            ("90.000000", "90"),
            ("5min", "300s"),
            ("./", "."),
            ("/var/lib/", "/var/lib"),
            ("CRC32", "crc32"),
            ("mrr=on, icp=off", "icp=off,mrr=on"),
            (" 7 ", "7"),
        ] {
            assert_eq!(normal(a), normal(b), "{a} and {b}");
        }
    }

    #[test]
    fn what_differs_stays_different() {
        for (a, b) in
            [("ON", "OFF"), ("ON", "2"), ("5s", "5"), ("", "0"), ("a,b", "a"), ("inf", "0"), ("b", "0")]
        {
            assert_ne!(normal(a), normal(b), "{a} and {b}");
        }
    }

    #[test]
    fn switches_and_sizes_are_told_from_other_values() {
        assert_eq!((is_on("On"), is_on("0"), is_on("DEMAND")), (Some(true), Some(false), None));
        assert_eq!(bytes("1G"), Some(1 << 30));
        assert_eq!(bytes("1GB"), Some(1 << 30));
        assert_eq!(bytes("512"), Some(512));
        assert_eq!((bytes("-1"), bytes("crc32"), bytes("")), (None, None, None));
    }
}

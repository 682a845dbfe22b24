//! The order of versions, and their series.

use super::family::Family;

/// The numbers of a version, by which versions are ordered. `8.0.43-34` has 8, 0, 43, 34.
pub(crate) fn version_key(version: &str) -> Vec<u32> {
    version.split(['.', '-']).map(|part| part.parse().unwrap_or(0)).collect()
}

/// Whether a version is the wanted one, or begins with it. `8.0` means `8.0.33` too, but not `8.01`, and `8.0.43` means
/// `8.0.43-34` too.
pub(crate) fn is_within(version: &str, wanted: &str) -> bool {
    version.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
}

/// The series of a version: `8.0` for `8.0.43`. For PostgreSQL, `17` for `17.6`, and `9.6` for `9.6.24`.
pub(crate) fn series(family: Family, version: &str) -> String {
    let numbers = version_key(version);
    let is_of_two = family == Family::Postgres && numbers.first().is_some_and(|major| *major >= 10);
    let parts = if is_of_two { 1 } else { 2 };
    version.split(['.', '-']).take(parts).collect::<Vec<_>>().join(".")
}

/// Returns the known versions next to a version that does not exist, newest first.
pub(super) fn around(version: &str, known: &[String]) -> Vec<String> {
    const OLDER: usize = 3;
    const NEWER: usize = 2;
    let key = version_key(version);
    let place = known.iter().position(|known| version_key(known) <= key).unwrap_or(known.len());
    // For a version with fewer numbers, such as 5.9, `place` is after all versions of its series, such as 5.9.1.
    let end = (place + OLDER).min(known.len());
    known[place.saturating_sub(NEWER)..end].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_what_patches_are_of() {
        for (family, version, expected) in [
            (Family::Mysql, "8.0.43-34", "8.0"),
            (Family::Mariadb, "10.11", "10.11"),
            (Family::Postgres, "9.6.24", "9.6"),
            (Family::Postgres, "17.6", "17"),
            (Family::Postgres, "17", "17"),
        ] {
            assert_eq!(series(family, version), expected, "{version}");
        }
        assert!(is_within("8.0.43-34", "8.0.43") && !is_within("8.0.43", "8.0.4"));
    }

    #[test]
    fn a_missing_version_has_neighbours() {
        let known = ["9.7.4", "8.4.8", "8.0.44", "8.0.43", "5.7.44", "5.6.51"].map(ToOwned::to_owned);
        assert_eq!(around("8.0.99", &known), ["9.7.4", "8.4.8", "8.0.44", "8.0.43", "5.7.44"]);
        assert_eq!(around("5.1", &known), ["5.7.44", "5.6.51"]);
        assert_eq!(around("99", &known), ["9.7.4", "8.4.8", "8.0.44"]);
    }
}

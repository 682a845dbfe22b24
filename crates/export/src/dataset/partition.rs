//! The partition of a run: nested folders for its plan, its date and its host, with the names that Hive gives them.

use dyno_store::utc_text;

/// Hive's name for a missing value.
const MISSING: &str = "__HIVE_DEFAULT_PARTITION__";

/// Characters that Hive writes as `%` and two hexadecimal digits (`FileUtils.escapePathName`). Hive does the same
/// with control characters.
const ESCAPED: &str = "\"#%'*/:=?\\{[]^\u{7f}";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Partition {
    plan: String,
    /// The day of the run's start in UTC, such as `2026-11-23`.
    date: String,
    host: Option<String>,
}

impl Partition {
    /// Makes the partition of a run. `started_at_ms` is when the run started, in milliseconds since 1970 UTC.
    pub(super) fn new(plan: &str, started_at_ms: i64, host: Option<&str>) -> Self {
        let mut date = utc_text(started_at_ms);
        date.truncate("2026-11-23".len());
        Self { plan: plan.to_owned(), date, host: host.map(str::to_owned) }
    }

    /// The partition's folder, relative to a table's folder.
    pub(super) fn folder(&self) -> String {
        let host = self.host.as_deref().unwrap_or_default();
        format!("{}/date={}/host={}", plan_folder(&self.plan), self.date, escaped(host))
    }
}

/// A plan's folder, relative to a table's folder.
pub(super) fn plan_folder(plan: &str) -> String {
    format!("plan={}", escaped(plan))
}

/// Escapes a value, so that it can be a part of a folder's name.
fn escaped(value: &str) -> String {
    if value.is_empty() {
        return MISSING.to_owned();
    }
    let one = |character: char| {
        if character < ' ' || ESCAPED.contains(character) {
            format!("%{:02X}", u32::from(character))
        } else {
            character.to_string()
        }
    };
    value.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_plan_date_and_host() {
        let partition = Partition::new("first-look", 1_795_392_000_000 - 1, Some("bench-1"));
        assert_eq!(partition.folder(), "plan=first-look/date=2026-11-22/host=bench-1");
        let next = Partition::new("first-look", 1_795_392_000_000, Some("bench-1"));
        assert_eq!(next.folder(), "plan=first-look/date=2026-11-23/host=bench-1");
    }

    #[test]
    fn names_cannot_leave_their_folder_and_what_is_missing_is_told() {
        let partition = Partition::new("../a=b c\n", 0, None);
        assert_eq!(
            partition.folder(),
            "plan=..%2Fa%3Db c%0A/date=1970-01-01/host=__HIVE_DEFAULT_PARTITION__"
        );
    }
}

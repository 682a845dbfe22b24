//! Gives advice for upgrades that the maker of a server supports only in several steps, or not at all.

use crate::catalogue::entry::{Entry, Family};

/// The series of MySQL. An upgrade leads from one series to the next.
const MYSQL: [(u32, u32); 6] = [(5, 5), (5, 6), (5, 7), (8, 0), (8, 4), (9, 7)];

/// Returns a sentence about what to do if a server refuses the data of another version. Returns `None` if Dyno has no
/// advice.
pub fn upgrade_path(old: &Entry, new: &Entry) -> Option<String> {
    let [from, to] = [old, new].map(|entry| (entry.version_number(0), entry.version_number(1)));
    if old.family != new.family {
        return Some("Load a dump into both: give it with --data and --reload.".to_owned());
    }
    if from > to {
        return Some(
            "No server reads the data of a later version. Load a dump into both: give it with --data and --reload."
                .to_owned(),
        );
    }
    let name = |(major, minor): (u32, u32)| format!("{major}.{minor}");
    let between: Vec<String> =
        MYSQL.into_iter().filter(|series| *series > from && *series < to).map(name).collect();
    if old.family != Family::Mysql || between.is_empty() {
        return None;
    }
    Some(format!(
        "MySQL is upgraded from series to series: {} → {} → {}. Upgrade in these steps, one `dyno upgrade` for each; or load a \
         dump into both with --data and --reload.",
        name(from),
        between.join(" → "),
        name(to)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;

    #[test]
    fn an_upgrade_that_skips_series_is_told_its_steps() {
        let path = |old: &str, new: &str| {
            let find = |name: &str| Catalogue::builtin().find(&name.parse().unwrap()).unwrap();
            upgrade_path(&find(old), &find(new))
        };
        assert!(path("mysql@5.6", "mysql@9.7").unwrap().contains("5.6 → 5.7 → 8.0 → 8.4 → 9.7."));
        assert!(path("mysql@8.0.33", "mysql@9.7").unwrap().contains("8.0 → 8.4 → 9.7."));
        assert_eq!(path("mariadb@10.5", "mariadb@11.8"), None);
        assert!(path("mariadb@11.8", "mariadb@10.5").unwrap().starts_with("No server reads"));
        assert!(path("mysql@5.6", "mariadb@11.8").unwrap().starts_with("Load a dump"));
    }
}

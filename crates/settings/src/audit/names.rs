//! Names of several systems in a sentence.

/// Joins ids as in `a and b`. Three or more ids with the same beginning up to a dot become `sweep.*`, if no other
/// system has that beginning.
pub(super) fn join<'a>(listed: &[String], all: &(impl Iterator<Item = &'a str> + Clone)) -> String {
    let mut names: Vec<String> = Vec::new();
    for id in listed {
        let prefixes = id.match_indices('.').map(|(at, _)| &id[..=at]);
        let stands_for_all = |prefix: &&str| {
            let mut with = all.clone().filter(|other| other.starts_with(prefix));
            let are_listed = with.clone().all(|other| listed.iter().any(|id| id == other));
            are_listed && with.nth(2).is_some()
        };
        let name = prefixes
            .into_iter()
            .find(stands_for_all)
            .map_or_else(|| id.clone(), |prefix| format!("{prefix}*"));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn all_configurations_of_a_sweep_are_one_name_and_some_are_listed() {
        let all = ["old.a-1", "old.a-2", "old.b", "new.a-1", "new.a-2", "new.a-3", "single"];
        let of = |listed: &[&str]| {
            join(&listed.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>(), &all.iter().copied())
        };
        assert_eq!(of(&["new.a-1", "single", "new.a-2", "new.a-3"]), "new.* and single");
        assert_eq!(of(&["old.a-1", "old.a-2"]), "old.a-1 and old.a-2");
        assert_eq!(of(&["new.a-1", "new.a-2"]), "new.a-1 and new.a-2");
    }

    #[test]
    fn versions_with_dots_stay_apart_where_only_some_begin_alike() {
        let all = ["mysql-5.5", "mysql-5.6.x-1", "mysql-5.6.x-2", "mysql-5.6.x-3"];
        let listed = ["mysql-5.6.x-1", "mysql-5.6.x-2", "mysql-5.6.x-3"].map(str::to_owned);
        assert_eq!(join(&listed, &all.iter().copied()), "mysql-5.6.*");
    }
}

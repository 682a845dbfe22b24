//! Checks that the tables in `docs/reference/settings.md` match the data. With `DYNO_WRITE_DOCS=1`, writes the
//! tables.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use dyno_settings::{Profile, Section, builtin_profiles, rules};

/// The profiles whose settings are in the tables. `stock` has no settings, and for `like-56` the page links to its
/// file.
const PROFILES: [&str; 2] = ["safe", "fast"];

#[test]
fn the_documented_tables_are_those_of_the_data() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/settings.md");
    let page = fs::read_to_string(&path).unwrap();
    let expected = with_block(&with_block(&page, "pins", &pins()), "rules", &rule_table());
    if std::env::var_os("DYNO_WRITE_DOCS").is_some_and(|value| value == "1") {
        fs::write(&path, &expected).unwrap();
    }
    assert!(page == expected, "settings.md is out of date: DYNO_WRITE_DOCS=1 writes its tables");
}

#[test]
fn every_profile_is_documented() {
    let page = include_str!("../../../docs/reference/settings.md");
    for profile in builtin_profiles() {
        assert!(page.contains(&format!("| `{}` |", profile.name)), "{}", profile.name);
        let name = profile.name.as_str();
        let is_told = ["stock", "like-56"].contains(&name) || PROFILES.contains(&name);
        assert!(is_told, "{}", profile.name);
    }
}

/// The page with a new text between the comments `<!-- name: … -->` and `<!-- end of name -->`.
fn with_block(page: &str, name: &str, block: &str) -> String {
    let start = page.find(&format!("<!-- {name}:")).unwrap();
    let start = start + page[start..].find("-->\n").unwrap() + "-->\n".len();
    let end = page.find(&format!("<!-- end of {name} -->")).unwrap();
    format!("{}\n{block}\n{}", &page[..start], &page[end..])
}

/// The settings of each profile, section by section.
fn pins() -> String {
    let profiles: Vec<Profile> = PROFILES.iter().map(|name| Profile::builtin(name).unwrap()).collect();
    let tables: Vec<String> = Section::ALL.into_iter().map(|section| pins_of(section, &profiles)).collect();
    tables.join("\n")
}

fn pins_of(section: Section, profiles: &[Profile]) -> String {
    let names: BTreeSet<&str> =
        profiles.iter().flat_map(|profile| profile.section(section).map(|(name, _)| name)).collect();
    let mut table = format!("| `[{}]` | {} |\n", section.name(), PROFILES.join(" | "));
    table += "| --- | --- | --- |\n";
    for name in names {
        let values: Vec<String> = profiles.iter().map(|profile| value(profile, section, name)).collect();
        let _ = writeln!(table, "| `{name}` | {} |", values.join(" | "));
    }
    table
}

fn value(profile: &Profile, section: Section, name: &str) -> String {
    let assignment =
        profile.section(section).find(|(known, _)| *known == name).map(|(_, assignment)| assignment);
    assignment.map_or_else(String::new, |assignment| {
        format!("{}{}", assignment.value, if assignment.optional { " ?" } else { "" })
    })
}

fn rule_table() -> String {
    let mut table = "| rule | severity | what it looks for |\n| --- | --- | --- |\n".to_owned();
    for rule in rules() {
        let severity = format!("{:?}", rule.severity).to_lowercase();
        let _ = writeln!(table, "| `{}` | {severity} | {} |", rule.id, rule.about);
    }
    table
}

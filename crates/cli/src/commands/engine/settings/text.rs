//! Settings as text for people. Lines have at most 100 columns.

use std::fmt::Write as _;

use dyno_printable::printable;
use dyno_settings::{Difference, Group, Origin, Variable, knowledge};
use textwrap::{Options, fill};

use super::read::Read;

const WIDTH: usize = 100;
const NAME_WIDTH: usize = 44;
const VALUE_WIDTH: usize = 25;
const LEGEND: &str =
    "* set by whoever started the server   ~ no such variable: it always behaves so   - no such variable\n";

/// The settings of one system.
pub(super) fn one(system: &Read, all: bool) -> String {
    let mut text = format!("{}\n{}", printable(&system.variables.label), left_out(system));
    let mut rest = 0;
    for group in groups() {
        let family = system.variables.product.family;
        let of_group: Vec<_> = system
            .variables
            .variables
            .iter()
            .filter(|(name, _)| knowledge(family, name).map_or(Group::Rest, |known| known.group) == group)
            .collect();
        if group == Group::Rest && !all {
            rest = of_group.len();
            continue;
        }
        if !of_group.is_empty() {
            let _ = writeln!(text, "\n{group}");
        }
        for (name, variable) in of_group {
            text += &line(name, &shown(Some(variable), None), &default(variable));
            text += &about(knowledge(family, name).map(|known| known.about.as_str()));
        }
    }
    if rest > 0 {
        let _ = writeln!(text, "\nand {rest} others, which --all shows");
    }
    text + "\n* set by whoever started the server\n"
}

/// The differences between two systems.
pub(super) fn two(a: &Read, b: &Read, differences: &[Difference], all: bool) -> String {
    let of_rest = differences.iter().filter(|difference| difference.group == Group::Rest).count();
    let important = differences.len() - of_rest;
    let labels = [a, b].map(|system| printable(&system.variables.label));
    let mut text = format!("a: {}\nb: {}\n{}{}", labels[0], labels[1], left_out(a), left_out(b));
    let _ = writeln!(text, "\n{important} important variables differ, and {of_rest} others");
    for group in groups() {
        let of_group: Vec<_> = differences.iter().filter(|difference| difference.group == group).collect();
        if of_group.is_empty() || (group == Group::Rest && !all) {
            continue;
        }
        let _ =
            writeln!(text, "\n{:<width$} {:<VALUE_WIDTH$} b", group.to_string(), "a", width = NAME_WIDTH + 2);
        for difference in of_group {
            let (left, right) = difference.values();
            text += &line(
                &difference.name,
                &shown(difference.a.as_ref(), left),
                &shown(difference.b.as_ref(), right),
            );
            text += &about(difference.about.as_deref());
        }
    }
    text += "\n";
    if of_rest > 0 && !all {
        let _ = writeln!(text, "--all shows the {of_rest} others");
    }
    text + LEGEND
}

fn groups() -> [Group; 4] {
    [Group::Durability, Group::Integrity, Group::Comparability, Group::Rest]
}

/// A variable's value, followed by a mark if the value was set or is fixed. If `value` is given, it is shown in place
/// of the variable's own value, which is a long list.
fn shown(variable: Option<&Variable>, value: Option<String>) -> String {
    let Some(variable) = variable else { return "-".to_owned() };
    let value = value.unwrap_or_else(|| variable.value.clone());
    let value = match value.as_str() {
        "" if variable.value.is_empty() => "(empty)",
        // The lists of both systems differ, but all items of this list are also in the other list.
        "" => "(nothing more)",
        value => value,
    };
    match variable.origin {
        Origin::Set => format!("{value} *"),
        Origin::Fixed => format!("{value} ~"),
        _ => value.to_owned(),
    }
}

fn default(variable: &Variable) -> String {
    match (&variable.default, variable.origin) {
        (Some(default), Origin::Set | Origin::Computed) => format!("default {default}"),
        _ => String::new(),
    }
}

/// A name with the values of A and B. If these do not fit on one line, each value gets a separate line.
fn line(name: &str, a: &str, b: &str) -> String {
    let (name, a, b) = (&*printable(name), &*printable(a), &*printable(b));
    let is_short = |value: &str| value.chars().count() <= VALUE_WIDTH;
    if name.len() <= NAME_WIDTH && is_short(a) && is_short(b) {
        return format!("  {name:<NAME_WIDTH$} {a:<VALUE_WIDTH$} {b}").trim_end().to_owned() + "\n";
    }
    let value = |mark: &str, value: &str| {
        let options = Options::new(WIDTH).initial_indent(mark).subsequent_indent("       ");
        // With a blank after each comma, a long list can be wrapped.
        let text = fill(&value.replace(',', ", "), options);
        if value.is_empty() { String::new() } else { text + "\n" }
    };
    format!("  {name}\n{}{}", value("    a  ", a), value("    b  ", b))
}

fn about(about: Option<&str>) -> String {
    let options = Options::new(WIDTH).initial_indent("      ").subsequent_indent("      ");
    about.map(|about| fill(about, options) + "\n").unwrap_or_default()
}

/// The settings of a profile that the version does not support.
fn left_out(system: &Read) -> String {
    let lines = system.left_out.iter().map(|left| {
        let text = format!("left out for {}: {} ({})", system.variables.label, left.name, left.reason);
        fill(&printable(&text), Options::new(WIDTH).subsequent_indent("  ")) + "\n"
    });
    lines.collect()
}

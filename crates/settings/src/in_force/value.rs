//! Compares a reported value with the requested one.

use super::number::amount;
use super::reports::Reports;
use crate::facts::product::Product;
use crate::facts::value::{is_on, normal};

/// What a server's report shows about a requested value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    Yes,
    No,
    /// The report does not show the value.
    Unknown,
}

impl Fit {
    fn of(is_so: bool) -> Self {
        if is_so { Self::Yes } else { Self::No }
    }
}

/// Compares the requested value of a variable with the value that the server reports.
pub(super) fn fit(product: &Product, variable: &str, asked: &str, found: &str) -> Fit {
    let reports = Reports::of(product.family);
    let (asked, found) = (unquoted(asked), found.trim());
    let is_alike = normal(asked) == normal(found)
        || reports.is_auto(variable, asked)
        || reports.mean_the_same(variable, asked, found);
    if is_alike {
        return Fit::Yes;
    }
    if reports.are_otherwise(variable) {
        return Fit::Unknown;
    }
    if let Some(words) = reports.words(variable) {
        return by_number(words, asked, found);
    }
    if let (Some(asked), Some(found)) = (amount(asked), amount(found)) {
        let is_more = reports.may_be_more(variable) && found.is_at_least(asked);
        return Fit::of(is_more || asked.is_had(found, reports.off_by(variable)));
    }
    if let (Some(asked), Some(found)) = (is_on(asked), is_on(found)) {
        return Fit::of(asked == found);
    }
    // One value is a switch or a number and the other is a word. The word is a mode or a file that only the server
    // knows, so the two cannot be compared.
    let is_word = |value: &str| is_on(value).is_none() && amount(value).is_none();
    if !is_word(asked) || !is_word(found) {
        return Fit::Unknown;
    }
    text(product, asked, found)
}

/// Compares words that can be written as numbers.
fn by_number(words: &[String], asked: &str, found: &str) -> Fit {
    let number = |value: &str| {
        let named = words.iter().position(|word| word.eq_ignore_ascii_case(value));
        let spaced = || words.iter().position(|word| word.replace('-', " ").eq_ignore_ascii_case(value));
        named.or_else(spaced).or_else(|| normal(value).parse().ok().filter(|number| *number < words.len()))
    };
    match (number(asked), number(found)) {
        (Some(asked), Some(found)) => Fit::of(asked == found),
        _ => Fit::Unknown,
    }
}

fn text(product: &Product, asked: &str, found: &str) -> Fit {
    if product.is_mysqld() && utf8(asked) == utf8(found) {
        return Fit::Yes;
    }
    let is_list = |value: &str| value.contains([',', ';', '=']);
    if is_list(asked) || is_list(found) {
        return list(asked, found);
    }
    if asked.contains('/') || found.contains('/') {
        return path(asked, found);
    }
    // An option accepts the beginning of a word in place of the whole word.
    let is_short = product.is_mysqld()
        && !asked.is_empty()
        && found.to_ascii_lowercase().starts_with(&asked.to_ascii_lowercase());
    Fit::of(is_short)
}

/// Compares lists. A request may name only some items. The server adds the missing items (`optimizer_switch`), or the
/// items that a requested item stands for (`sql_mode = TRADITIONAL`).
fn list(asked: &str, found: &str) -> Fit {
    let items = |list: &str| -> Vec<String> {
        let items = list.split([',', ';']).map(str::trim).filter(|item| !item.is_empty());
        items.map(item).collect()
    };
    let (asked, found) = (items(asked), items(found));
    let is_of_pairs = found.iter().any(|item| item.contains('='));
    if asked.is_empty() && !is_of_pairs {
        return Fit::No;
    }
    let is_left_open = |item: &str| item == "default" || item.ends_with("=default");
    Fit::of(asked.iter().all(|item| is_left_open(item) || found.contains(item)))
}

/// An item of a list in its normal form: a name and its value, or a word.
fn item(item: &str) -> String {
    match item.split_once('=') {
        Some((name, value)) => format!("{}={}", normal(name), normal(value)),
        None => normal(item),
    }
}

/// Compares paths. Servers complete paths, so only the last names are compared. Two absolute paths with different
/// last names are different.
fn path(asked: &str, found: &str) -> Fit {
    let last = |path: &str| path.trim_end_matches('/').rsplit('/').next().map(str::to_ascii_lowercase);
    if last(asked) == last(found) {
        return Fit::Yes;
    }
    if asked.starts_with('/') && found.starts_with('/') { Fit::No } else { Fit::Unknown }
}

/// The name of a character set or collation with `utf8` in place of `utf8mb3`, because versions differ in this
/// name.
fn utf8(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    match name.strip_prefix("utf8mb3").or_else(|| name.strip_prefix("utf8")) {
        Some(rest) if !rest.starts_with("mb4") => format!("utf8{rest}"),
        _ => name,
    }
}

fn unquoted(value: &str) -> &str {
    let value = value.trim();
    let inner = |quote| value.strip_prefix(quote).and_then(|rest: &str| rest.strip_suffix(quote));
    inner('\'').or_else(|| inner('"')).unwrap_or(value)
}

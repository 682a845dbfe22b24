//! Writes a mix as a script for sysbench.

use std::fmt::Write as _;

use super::draw::Draw;
use super::template::{Piece, places};
use super::{Mixed, Origin, Sent, Unit};

/// Longest statement in a comment, in characters.
const COMMENT_MAX: usize = 110;
/// Largest number of statements of a transaction that a comment shows.
const COMMENTED_MAX: usize = 12;

/// The code at the beginning of every mix, after the title.
const PRELUDE: &str = include_str!("prelude.lua");

/// Writes the script.
pub(super) fn script(origin: &Origin<'_>, units: &[Unit], mixed: &Mixed) -> String {
    let mut lua = title(origin, mixed);
    lua += PRELUDE;
    let all: u64 = units.iter().map(|unit| unit.weight).sum();
    for unit in units {
        append_unit(&mut lua, unit, all);
    }
    lua += "\nlocal choose = chooser(weights)\n\nfunction event()\n  transactions[choose()]()\nend\n";
    lua
}

fn title(origin: &Origin<'_>, mixed: &Mixed) -> String {
    let name = origin.path.file_name().map_or_else(String::new, |name| commented(&name.to_string_lossy()));
    let share = 100.0 * mixed.mixed as f64 / mixed.statements.max(1) as f64;
    let mut lua = format!(
        "-- A mix of {name}, made by `dyno traffic mix`: {share:.1}% of {} statements, in {} transactions.\n",
        mixed.statements, mixed.transactions
    );
    for (why, statements) in &mixed.left_out {
        let _ = writeln!(lua, "-- {statements} statements are left out: they {why}.");
    }
    lua += if origin.is_digests {
        "--\n-- Digests have neither values nor transactions. Each statement is a transaction of its own. A value that is not\n\
         -- known is a number between 1 and the option --range, in quotes. Replace `unknown` where a place needs other values.\n"
    } else {
        "--\n-- Transactions come as often as in the traffic, in random order. Values are drawn for each place: numbers from the\n\
         -- ranges that were seen, others from those that were seen. Values that agreed in a transaction agree here.\n"
    };
    lua += "-- The script makes no tables: prepare the data on which the traffic ran.\n\n";
    lua
}

fn append_unit(lua: &mut String, unit: &Unit, all: u64) {
    let share = 100.0 * unit.weight as f64 / all.max(1) as f64;
    let _ = writeln!(lua, "\n-- {share:.2}%, {} times", unit.weight);
    for sent in unit.sent.iter().take(COMMENTED_MAX) {
        let _ = writeln!(lua, "--   {}", commented(&shape(sent)));
    }
    if unit.sent.len() > COMMENTED_MAX {
        let _ = writeln!(lua, "--   and {} more statements", unit.sent.len() - COMMENTED_MAX);
    }
    let _ = writeln!(lua, "add({}, function()\n  local draw, v = {{", unit.weight);
    for draw in &unit.draws {
        let _ = writeln!(lua, "    {},", source(draw));
    }
    lua.push_str("  }, {}\n  return function()\n");
    for sent in &unit.sent {
        let (literals, bound) = places(&sent.pieces);
        for place in sent.first..sent.first + literals + bound {
            let _ = writeln!(lua, "    v[{}] = {}", place + 1, value(unit, place));
        }
        let _ = writeln!(lua, "    con:query({})", statement(unit, sent));
    }
    lua.push_str("  end\nend)\n");
}

/// Returns the Lua expression that draws the values of a place. If the values are computed from those of an earlier
/// place, the expression is `false`.
fn source(draw: &Draw) -> String {
    let joined = |numbers: &[i64]| numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    match draw {
        Draw::Integers(bounds) => format!("integers({{ {} }})", joined(bounds)),
        Draw::Literals(weights) => {
            let texts: Vec<String> = weights.iter().map(|(text, _)| quoted(text)).collect();
            let weights: Vec<String> = weights.iter().map(|(_, weight)| weight.to_string()).collect();
            format!("values({{ {} }}, {{ {} }})", texts.join(", "), weights.join(", "))
        }
        Draw::Text(low, high) => format!("text({low}, {high})"),
        Draw::Digits(low, high) => format!("digits({low}, {high})"),
        Draw::Unknown => "unknown".to_owned(),
        Draw::Plus(..) | Draw::Same(_) => "false".to_owned(),
    }
}

fn value(unit: &Unit, place: usize) -> String {
    match &unit.draws[place] {
        Draw::Plus(of, by) => format!("v[{}] + {by}", of + 1),
        Draw::Same(of) => format!("v[{}]", of + 1),
        _ => format!("draw[{}]()", place + 1),
    }
}

/// The statement as a Lua expression.
fn statement(unit: &Unit, sent: &Sent) -> String {
    let (literals, _) = places(&sent.pieces);
    let mut parts = Vec::with_capacity(sent.pieces.len());
    for piece in &sent.pieces {
        let place = match piece {
            Piece::Sql(text) => {
                parts.push(quoted(text.as_bytes()));
                continue;
            }
            Piece::Literal(number) => sent.first + number,
            Piece::Bound(number) => sent.first + literals + number,
        };
        // A number for a parameter gets quotes, so that the server infers the type from the context.
        let has_quotes = unit.is_bound[place] && unit.draws[place].is_number(&unit.draws);
        let quote = if has_quotes { "\"'\" .. " } else { "" };
        let end = if has_quotes { " .. \"'\"" } else { "" };
        parts.push(format!("{quote}v[{}]{end}", place + 1));
    }
    parts.join(" .. ")
}

/// The statement with a question mark for each value.
fn shape(sent: &Sent) -> String {
    let part = |piece: &Piece| match piece {
        Piece::Sql(text) => text.clone(),
        Piece::Literal(_) | Piece::Bound(_) => "?".to_owned(),
    };
    sent.pieces.iter().map(part).collect()
}

/// Converts a text so that it fits into a comment of one line.
fn commented(text: &str) -> String {
    let line: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let mut letters = line.chars();
    let kept: String = letters.by_ref().take(COMMENT_MAX).collect();
    if letters.next().is_some() { kept + "…" } else { kept }
}

/// Writes a Lua string (manual of Lua 5.1, 2.1). Bytes that are not printable ASCII are written as numbers.
fn quoted(text: &[u8]) -> String {
    let mut lua = String::with_capacity(text.len() + 2);
    lua.push('"');
    for byte in text {
        match byte {
            b'"' => lua.push_str("\\\""),
            b'\\' => lua.push_str("\\\\"),
            b' '..=b'~' => lua.push(char::from(*byte)),
            other => {
                let _ = write!(lua, "\\{other:03}");
            }
        }
    }
    lua.push('"');
    lua
}

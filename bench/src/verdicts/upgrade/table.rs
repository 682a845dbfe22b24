//! The table of planted regressions, and the list of what was reported but not planted.

use dyno_traffic::sql::Dialect;

use super::judged::{Reported, Seen};
use super::planted::Planted;
use super::traffic::{Values, digest};
use crate::support::pair;

/// Goal: share of the planted regressions that are found, for example 19 of 20.
const FOUND_SHARE: f64 = 0.95;
/// Largest number of a statement's characters that are shown.
const SHOWN_MAX: usize = 90;

/// The report of pt-upgrade.
pub(super) enum Beside {
    Reported(Reported),
    /// Why there is no report.
    Not(String),
}

/// What both tools report about the planted regressions.
pub(super) struct Outcome<'a> {
    /// The planted regressions, each with the digest of its statement.
    planted: Vec<(&'a Planted, String)>,
    dyno: &'a Reported,
    beside: &'a Beside,
}

impl<'a> Outcome<'a> {
    pub(super) fn new(
        planted: &'a [Planted],
        dialect: Dialect,
        dyno: &'a Reported,
        beside: &'a Beside,
    ) -> anyhow::Result<Self> {
        let with_digest = |it: &'a Planted| -> anyhow::Result<(&'a Planted, String)> {
            Ok((it, digest(&Values::default().fill(&it.statement)?, dialect)))
        };
        let planted = planted.iter().map(with_digest).collect::<anyhow::Result<_>>()?;
        Ok(Self { planted, dyno, beside })
    }

    pub(super) fn print(&self, title: &str) {
        let mut table = pair::table(&["kind", "statement", "planted", "dyno", "time", "pt-upgrade"]);
        for (planted, digest) in &self.planted {
            let seen = self.dyno.get(digest);
            let ratio = seen.and_then(|seen| seen.ratio);
            table.add_row([
                planted.kind.clone(),
                shown(&planted.statement),
                planted.finds.text().to_owned(),
                verdict(planted, seen),
                ratio.map_or_else(String::new, |ratio| format!("× {ratio:.2}")),
                match self.beside {
                    Beside::Reported(reported) => verdict(planted, reported.get(digest)),
                    Beside::Not(_) => "–".to_owned(),
                },
            ]);
        }
        pair::print(title, table, 4);
        let mut totals = pair::table(&["what", "dyno", "pt-upgrade", "goal", "met"]);
        for line in self.totals() {
            totals.add_row(line);
        }
        pair::print("", totals, 1);
        if let Beside::Not(reason) = self.beside {
            println!("pt-upgrade: {reason}");
        }
        print_others("dyno", &self.others(self.dyno));
        if let Beside::Reported(reported) = self.beside {
            print_others("pt-upgrade", &self.others(reported));
        }
    }

    fn totals(&self) -> [[String; 5]; 2] {
        let count = self.planted.len();
        let found = |reported: &Reported| {
            let is_found = |(planted, digest): &&(&Planted, String)| is_found(planted, reported.get(digest));
            self.planted.iter().filter(is_found).count()
        };
        let (ours, least) = (found(self.dyno), (FOUND_SHARE * count as f64).ceil());
        let beside = |figure: &dyn Fn(&Reported) -> String| match self.beside {
            Beside::Reported(reported) => figure(reported),
            Beside::Not(_) => "–".to_owned(),
        };
        let of_all = |reported: &Reported| format!("{} of {count}", found(reported));
        let others = |reported: &Reported| self.others(reported).len().to_string();
        [
            [
                "planted regressions found".to_owned(),
                of_all(self.dyno),
                beside(&of_all),
                format!("≥ {least}"),
                if ours as f64 >= least { "yes" } else { "no" }.to_owned(),
            ],
            [
                "digests reported and not planted".to_owned(),
                others(self.dyno),
                beside(&others),
                String::new(),
                String::new(),
            ],
        ]
    }

    /// Returns what is reported but not planted, one line each.
    fn others(&self, reported: &Reported) -> Vec<String> {
        let is_planted = |digest: &String| self.planted.iter().any(|(_, planted)| planted == digest);
        let others = reported.iter().filter(|(digest, seen)| !seen.harms.is_empty() && !is_planted(digest));
        others
            .map(|(digest, seen)| {
                let ratio = seen.ratio.map_or_else(String::new, |ratio| format!(" (× {ratio:.2})"));
                format!("{}{ratio}: {}", harms(seen), shown(digest))
            })
            .collect()
    }
}

fn print_others(tool: &str, others: &[String]) {
    if !others.is_empty() {
        println!("Reported by {tool} and not planted:");
    }
    for other in others {
        println!("  {other}");
    }
}

fn is_found(planted: &Planted, seen: Option<&Seen>) -> bool {
    seen.is_some_and(|seen| seen.harms.contains(&planted.finds))
}

fn verdict(planted: &Planted, seen: Option<&Seen>) -> String {
    match seen {
        _ if is_found(planted, seen) => "found".to_owned(),
        Some(seen) if !seen.harms.is_empty() => format!("no: {}", harms(seen)),
        _ => "no".to_owned(),
    }
}

fn harms(seen: &Seen) -> String {
    seen.harms.iter().map(|harm| harm.text()).collect::<Vec<_>>().join(", ")
}

fn shown(statement: &str) -> String {
    if statement.chars().count() <= SHOWN_MAX {
        return statement.replace('|', "\\|");
    }
    let begin: String = statement.chars().take(SHOWN_MAX).collect();
    begin.replace('|', "\\|") + "…"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::planted::Harm;
    use super::*;

    fn planted(statement: &str, finds: Harm) -> Planted {
        Planted { kind: "k".to_owned(), finds, statement: statement.to_owned() }
    }

    fn seen(harms: &[Harm]) -> Seen {
        Seen { harms: harms.iter().copied().collect::<BTreeSet<_>>(), ratio: Some(1.5) }
    }

    #[test]
    fn only_the_planted_harm_counts_as_found() {
        let all = [
            planted("SELECT a FROM t WHERE id = {9}", Harm::Slower),
            planted("SELECT b FROM t WHERE id = {9}", Harm::Fails),
            planted("SELECT c FROM t WHERE id = {9}", Harm::Answers),
        ];
        let text = |column: &str| format!("SELECT {column} FROM t WHERE id = ?");
        let dyno = Reported::from([
            (text("a"), seen(&[Harm::Slower, Harm::Answers])),
            (text("b"), seen(&[Harm::Slower])),
            (text("c"), seen(&[])),
            (text("d"), seen(&[Harm::Slower])),
            (text("e"), seen(&[])),
        ]);
        let beside = Beside::Reported(Reported::from([(text("c"), seen(&[Harm::Answers]))]));
        let outcome = Outcome::new(&all, Dialect::Mysql, &dyno, &beside).unwrap();
        let [found, others] = outcome.totals();
        assert_eq!(found[1..], ["1 of 3", "1 of 3", "≥ 3", "no"].map(str::to_owned));
        assert_eq!(others[1..3], ["1", "0"].map(str::to_owned));
        assert_eq!(outcome.others(&dyno), ["slower (× 1.50): SELECT d FROM t WHERE id = ?"]);
        assert_eq!(verdict(&all[1], dyno.get(&text("b"))), "no: slower");
        let beside = Beside::Not("not for PostgreSQL".to_owned());
        let alone = Outcome::new(&all, Dialect::Mysql, &dyno, &beside).unwrap();
        assert_eq!(alone.totals()[0][2], "–");
    }
}

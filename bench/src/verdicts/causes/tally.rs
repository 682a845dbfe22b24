//! The table of planted causes, and the totals beside the goals.

use super::cause::Cause;
use super::outcome::Outcome;
use crate::support::pair;

/// Goal: share of the single causes (see [`Cause::is_single`]) that a proof finds, for example 18 of 20.
const PROVEN_SHARE: f64 = 0.9;
/// Goal: share of the single causes that the explanation ranks first without a proof, for example 14 of 20.
const FIRST_SHARE: f64 = 0.7;
/// Goal: largest number of comparisons for one cause.
const PROBES_MAX: usize = 12;
/// Goal: longest time of a proof of one cause, in seconds.
const SECONDS_MAX: f64 = 300.0;

/// A planted cause and the results of `dyno explain`.
pub(super) struct Row {
    pub(super) cause: Cause,
    pub(super) outcome: Outcome,
}

pub(super) fn table(rows: &[Row]) -> comfy_table::Table {
    let mut table = pair::table(&[
        "cause",
        "difference",
        "first",
        "in the first three",
        "proven",
        "falsely proven",
        "probes",
        "s",
    ]);
    for row in rows {
        table.add_row(cells(row));
    }
    table
}

fn cells(Row { cause, outcome }: &Row) -> Vec<String> {
    let has_place = !cause.planted.is_empty();
    let yes = |is_so: bool| {
        if !has_place {
            "–"
        } else if is_so {
            "yes"
        } else {
            "no"
        }
        .to_owned()
    };
    let proven = match (&outcome.failure, &outcome.ending) {
        (Some(failure), _) => failure.clone(),
        (None, None) => "no difference".to_owned(),
        (None, Some(_)) if outcome.is_proven => "yes".to_owned(),
        (None, Some(ending)) => format!("no: {}", ending.replace('_', " ")),
    };
    vec![
        cause.name.clone(),
        outcome.ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
        yes(outcome.place == Some(1)),
        yes(outcome.place.is_some_and(|place| place <= 3)),
        proven,
        outcome.wrong.join(", "),
        outcome.probes.to_string(),
        format!("{:.0}", outcome.seconds),
    ]
}

/// Returns the measured totals, each with its goal and whether the goal is met.
pub(super) fn totals(rows: &[Row]) -> Vec<[String; 4]> {
    let single: Vec<&Row> = rows.iter().filter(|row| row.cause.is_single()).collect();
    // A cause that is no setting, such as a slower build, has no rank among the settings.
    let placed: Vec<&Row> = single.iter().copied().filter(|row| !row.cause.planted.is_empty()).collect();
    let share = |what: &str, of: &[&Row], is_so: fn(&Outcome) -> bool, goal: Option<f64>| {
        let count = of.iter().filter(|row| is_so(&row.outcome)).count();
        let is_met = goal.filter(|_| !of.is_empty()).map(|goal| count as f64 >= goal * of.len() as f64);
        let goal = goal.map(|goal| format!("≥ {:.0}%", 100.0 * goal));
        line(what, format!("{count} of {}", of.len()), goal.as_deref(), is_met)
    };
    let failed = rows.iter().filter(|row| row.outcome.failure.is_some()).count();
    // If a cause could not be measured, it is unknown whether the goals are met.
    let met = |is_met: bool| (failed == 0).then_some(is_met);
    let wrong: usize = rows.iter().map(|row| row.outcome.wrong.len()).sum();
    let probes = single.iter().map(|row| row.outcome.probes).max().unwrap_or(0);
    let seconds = single.iter().map(|row| row.outcome.seconds).fold(0.0, f64::max);
    vec![
        line("could not be measured", failed.to_string(), Some("0"), Some(failed == 0)),
        share("single causes proven", &single, |outcome| outcome.is_proven, Some(PROVEN_SHARE)),
        share(
            "the right one first, without another run",
            &placed,
            |outcome| outcome.place == Some(1),
            Some(FIRST_SHARE),
        ),
        share(
            "among the first three",
            &placed,
            |outcome| outcome.place.is_some_and(|place| place <= 3),
            None,
        ),
        line("falsely proven, of all", wrong.to_string(), Some("0"), met(wrong == 0)),
        line(
            "most probes for a single cause",
            probes.to_string(),
            Some(&format!("≤ {PROBES_MAX}")),
            met(probes <= PROBES_MAX),
        ),
        line(
            "longest proof of a single cause, s",
            format!("{seconds:.0}"),
            Some(&format!("≤ {SECONDS_MAX}")),
            met(seconds <= SECONDS_MAX),
        ),
    ]
}

fn line(what: &str, measured: String, goal: Option<&str>, is_met: Option<bool>) -> [String; 4] {
    let met = is_met.map_or("", |is_met| if is_met { "yes" } else { "no" });
    [what.to_owned(), measured, goal.unwrap_or_default().to_owned(), met.to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(planted: &str, outcome: Outcome) -> Row {
        let text = format!(
            "about = 'x'\nengine = 'sqlite'\nworkload = 'oltp_insert'\ninnocent = {{}}\nplanted = {planted}"
        );
        Row { cause: toml::from_str(&text).unwrap(), outcome }
    }

    fn found(is_proven: bool, place: usize, probes: usize, seconds: f64) -> Outcome {
        let ending = Some(if is_proven { "proven" } else { "partly" }.to_owned());
        Outcome { is_proven, place: Some(place), probes, seconds, ending, ..Outcome::default() }
    }

    #[test]
    fn goals_are_for_single_causes_and_false_proofs_count_everywhere() {
        let mut rows: Vec<Row> = (0..9).map(|_| row("[['a']]", found(true, 1, 4, 60.0))).collect();
        rows.push(row("[['a']]", found(false, 3, 12, 299.0)));
        rows.push(row("[['a', 'b']]", found(true, 9, 20, 900.0)));
        rows.push(row("[]", Outcome::default()));
        let measured = |rows: &[Row]| {
            totals(rows).into_iter().map(|[_, measured, _, met]| (measured, met)).collect::<Vec<_>>()
        };
        let owned = |pairs: [(&str, &str); 7]| pairs.map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec();
        let good = [
            ("0", "yes"),
            ("9 of 10", "yes"),
            ("9 of 10", "yes"),
            ("10 of 10", ""),
            ("0", "yes"),
            ("12", "yes"),
            ("299", "yes"),
        ];
        assert_eq!(measured(&rows), owned(good));
        rows[11].outcome.wrong = vec!["wait_timeout".to_owned()];
        rows[0].outcome = found(false, 4, 13, 301.0);
        let bad = [
            ("0", "yes"),
            ("8 of 10", "no"),
            ("8 of 10", "yes"),
            ("9 of 10", ""),
            ("1", "no"),
            ("13", "no"),
            ("301", "no"),
        ];
        assert_eq!(measured(&rows), owned(bad));
        let failed = Outcome { failure: Some("dyno run failed".to_owned()), ..Outcome::default() };
        let nothing = measured(&[row("[]", failed)]);
        assert_eq!(nothing[0], ("1".to_owned(), "no".to_owned()));
        assert!(nothing[1..].iter().all(|(_, met)| met.is_empty()), "{nothing:?}");
    }

    #[test]
    fn a_row_says_what_came_of_a_cause() {
        let none = cells(&row("[]", Outcome { ratio: Some(1.004), ..Outcome::default() }));
        assert_eq!(none[1..5], ["1.00", "–", "–", "no difference"]);
        let partly = cells(&row("[['a']]", found(false, 2, 5, 61.4)));
        assert_eq!(partly[2..], ["no", "yes", "no: partly", "", "5", "61"]);
        let failed = Outcome { failure: Some("dyno run failed".to_owned()), ..Outcome::default() };
        assert_eq!(cells(&row("[['a']]", failed))[4], "dyno run failed");
    }
}

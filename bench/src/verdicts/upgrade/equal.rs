//! Runs `dyno upgrade` between equal versions, and counts how many runs report a regression.

use std::fs;

use dyno_stats::{CONFIDENCE, Interval, proportion};

use super::bed::Bed;
use super::judged::{Answer, Safety};
use super::upgrading::Upgrading;
use crate::support::pair;
use crate::support::program::Program;

/// Goal: largest share of the runs with an alarm.
const SHARE_MAX: f64 = 0.05;

/// The results of the runs so far.
#[derive(Debug, Default)]
struct Tally {
    runs: usize,
    alarms: usize,
    not_decided: usize,
}

/// Measures until there are `runs` runs. A run whose report exists is not measured again.
pub(super) fn run(runs: u32, upgrading: &Upgrading<'_>, bed: &Bed, program: &Program) -> anyhow::Result<()> {
    let mut tally = Tally::default();
    for number in 1..=runs {
        let kept = format!("run-{number:03}.json");
        let path = bed.folder.join(&kept);
        if !path.exists() {
            eprintln!("run {number} of {runs}");
            if !upgrading.run(&bed.folder, "report.json", program)? {
                break;
            }
            fs::rename(bed.folder.join("report.json"), &path)?;
        }
        tally.add(&kept, &Answer::read(&path)?);
    }
    tally.print(upgrading);
    if program.is_stopped() {
        println!("Stopped. The same command continues. The runs so far are in {}.", bed.folder.display());
    }
    Ok(())
}

impl Tally {
    fn add(&mut self, run: &str, answer: &Answer) {
        self.runs += 1;
        match answer.safety {
            Safety::Safe => {}
            Safety::NotDecided => self.not_decided += 1,
            Safety::NotSafe => {
                self.alarms += 1;
                let reported: Vec<&str> = answer
                    .reported
                    .iter()
                    .filter(|(_, seen)| !seen.harms.is_empty())
                    .map(|(digest, _)| digest.as_str())
                    .collect();
                println!("{run}: {} digests reported: {}", reported.len(), reported.join("; "));
            }
        }
    }

    fn print(&self, upgrading: &Upgrading<'_>) {
        let interval = proportion(self.alarms, self.runs, CONFIDENCE);
        let mut table =
            pair::table(&["runs", "with an alarm", "share", "95% interval", "goal", "met", "not decided"]);
        table.add_row([
            self.runs.to_string(),
            self.alarms.to_string(),
            format!("{:.1}%", 100.0 * self.alarms as f64 / self.runs.max(1) as f64),
            format!("{:.1}–{:.1}%", 100.0 * interval.low, 100.0 * interval.high),
            format!("≤ {:.0}%", 100.0 * SHARE_MAX),
            met(interval).to_owned(),
            self.not_decided.to_string(),
        ]);
        pair::print(&format!("{} with itself, {} rounds a run", upgrading.from, upgrading.rounds), table, 0);
    }
}

/// Returns whether the whole interval meets or misses the goal.
fn met(interval: Interval) -> &'static str {
    if interval.high <= SHARE_MAX {
        "yes"
    } else if interval.low > SHARE_MAX {
        "no"
    } else {
        "undecided"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_interval_decides() {
        let of = |alarms, runs| met(proportion(alarms, runs, CONFIDENCE));
        assert_eq!((of(0, 71), of(0, 72)), ("undecided", "yes"));
        assert_eq!((of(0, 40), of(5, 40), of(6, 40)), ("undecided", "undecided", "no"));
    }
}

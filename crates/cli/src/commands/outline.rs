//! `dyno run --dry-run`: what a plan would do.

use std::fmt::Write as _;
use std::time::Duration;

use dyno_lab::{Outline, Plan, Trials};
use indicatif::HumanBytes;

/// What a run of the plan would do: systems, steps with trials and time, and what it takes in all.
pub(super) fn describe(plan: &Plan) -> String {
    let Outline { blocks, trials, seconds, disk_bytes } = plan.outline();
    let mut text = format!("{}: {}\n\nsystems\n", plan.name, plan.title);
    for (at, system) in plan.systems.iter().enumerate() {
        let role = match &system.twin_of {
            Some(twin) => format!("  (the same as {twin}: what differs is noise)"),
            None if at == plan.base => "  (base)".to_owned(),
            None => String::new(),
        };
        let _ = writeln!(text, "  {:<20} {}{role}", system.id, system.source.name());
    }
    text += "\nsteps\n";
    for block in &blocks {
        let step = &plan.steps[block.step];
        let clients = if block.clients == 1 { "client " } else { "clients" };
        let _ = writeln!(
            text,
            "  {:<30} {:>6} {clients} {:>6} trials {:>12}",
            step.id,
            block.clients,
            block.trials,
            duration(block.seconds)
        );
    }
    let at_least = if matches!(plan.trials, Trials::UntilDecided { .. }) { "at least " } else { "" };
    let _ = write!(text, "\n{at_least}{trials} trials, about {} of measuring", duration(seconds));
    let _ = writeln!(text, ", about {} of disk", HumanBytes(disk_bytes));
    text
}

fn duration(seconds: f64) -> String {
    let whole = if seconds < 1.0 { 1 } else { seconds.round() as u64 };
    humantime::format_duration(Duration::from_secs(whole)).to_string()
}

//! `dyno run --dry-run`: describes what a plan would do.

use std::fmt::Write as _;

use dyno_lab::{Foreseen, Found, Outline, OutlineBlock, Plan, Rounds, Source, TooFewRounds};
use dyno_printable::printable;
use dyno_search::duration;
use dyno_stats::{Look, Looks};
use indicatif::HumanBytes;

/// The column of names is at most this wide, in letters. A longer name moves the columns after it.
const NAME_LETTERS: usize = 60;

/// Describes what a run of the plan would do: its systems, steps, trials, time and disk space.
pub(super) fn describe(plan: &Plan, foreseen: &[Foreseen]) -> String {
    let Outline { blocks, trials, disk_bytes, .. } = plan.outline();
    let mut text = format!("{}: {}\n\nsystems\n", printable(&plan.name), printable(&plan.title));
    let widest = plan.systems.iter().map(|system| system.id.chars().count()).max().unwrap_or(0);
    let width = widest.clamp(20, NAME_LETTERS);
    for (at, system) in plan.systems.iter().enumerate() {
        let role = match &system.control_of {
            Some(control) => format!("  (the same as {control}: differences are noise)"),
            None if at == plan.base && Some(at) == plan.anchor => "  (base, anchor)".to_owned(),
            None if at == plan.base => "  (base)".to_owned(),
            None if Some(at) == plan.anchor => "  (anchor)".to_owned(),
            None => String::new(),
        };
        let _ = writeln!(text, "  {:<width$} {}{role}", system.id, system.source.name());
    }
    text += "\nsteps of a round\n";
    for block in &blocks {
        let _ = writeln!(text, "{}", line(plan, block));
    }
    if !foreseen.is_empty() {
        text += "\nservers that run already\n";
        for Foreseen { system, address, found } in foreseen {
            let found = met(found);
            let _ = writeln!(text, "  {system:<width$} {address}: {}", printable(&found));
        }
    }
    let foreign = foreign_code(plan);
    if !foreign.is_empty() {
        text += "\nprograms and scripts of the plan, which run with your rights\n";
        for line in &foreign {
            let _ = writeln!(text, "  {}", printable(line));
        }
    }
    let at_least = if matches!(plan.rounds, Rounds::Fixed(_)) { "" } else { "at least " };
    let _ = write!(text, "\n{}, {at_least}{trials} trials", rounds(plan));
    let _ = writeln!(text, ", about {}, about {} of disk", duration(seconds(plan)), HumanBytes(disk_bytes));
    if let Some(found) = plan.too_few_rounds() {
        let _ = writeln!(text, "{}", too_few_rounds(found));
    } else if let Some(looks) = plan.looks() {
        let _ = writeln!(text, "{}", looks_line(&looks));
    }
    text
}

/// Programs and scripts that a plan uses from outside Dyno: builds, images, scripts, drivers' hosts, and commands.
fn foreign_code(plan: &Plan) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut add = |line: String| {
        if !lines.contains(&line) {
            lines.push(line);
        }
    };
    for system in &plan.systems {
        match &system.source {
            Source::Basedir { installation, .. } => add(format!("build     {}", installation.root.display())),
            Source::Image { name, .. } => add(format!("image     {name}")),
            Source::Catalogue { .. } | Source::Dsn { .. } => {}
        }
    }
    for step in &plan.steps {
        let scripts = std::iter::once(&step.script).chain(step.background.iter().map(|load| &load.script));
        scripts
            .filter(|script| !script.search_path.is_empty())
            .for_each(|script| add(format!("script    {}", script.name)));
        step.drivers.iter().for_each(|host| add(format!("driver    {host}")));
        let commands = [("before", &step.before), ("after", &step.after)];
        for (when, command) in commands {
            if let Some(command) = command {
                add(format!("{when:<9} {command}"));
            }
        }
    }
    lines
}

/// The state of a database, as a run would find it.
pub(super) fn met(found: &Found) -> String {
    match found {
        Found::Unknown(error) => format!("cannot be checked: {error}"),
        Found::NoLoads => "the plan loads nothing there".to_owned(),
        Found::Nothing => "Dyno creates a database for the run and drops it at the end".to_owned(),
        Found::Refused { names, .. } if names.is_empty() => "cannot be loaded".to_owned(),
        Found::Refused { names, .. } => {
            format!("contains objects that Dyno did not create: {}", names.join(", "))
        }
        Found::Tables { made, may_drop, keeps } => {
            let mut facts = Vec::new();
            if !made.is_empty() {
                facts.push(format!(
                    "the loads replace objects that earlier runs of Dyno created: {}",
                    made.join(", ")
                ));
            }
            if !may_drop.is_empty() {
                facts.push(format!(
                    "the loads may drop objects that Dyno did not create: {}",
                    may_drop.join(", ")
                ));
            }
            if facts.is_empty() {
                facts.push("empty".to_owned());
            }
            facts.push(
                if *keeps {
                    "the tables of the loads stay"
                } else {
                    "the tables of the loads are dropped at the end"
                }
                .to_owned(),
            );
            facts.join("; ")
        }
    }
}

/// A line on a step at a number of clients: its trials and their time in one round.
fn line(plan: &Plan, block: &OutlineBlock) -> String {
    let step = &plan.steps[block.step];
    let clients = if block.clients == 1 { "client " } else { "clients" };
    let is_once = step.is_load() && !plan.load_every_round;
    format!(
        "  {:<30} {:>6} {clients} {:>6} trials {:>12}{}",
        step.id,
        block.clients,
        block.trials,
        short(block.seconds),
        match plan.rounds_per_load {
            Some(rounds) if is_once => format!("  (every {rounds} rounds)"),
            _ if is_once => "  (first round only)".to_owned(),
            _ => String::new(),
        }
    )
}

/// States that the plan has too few rounds for verdicts, and how many it needs.
pub(super) fn too_few_rounds(found: TooFewRounds) -> String {
    let TooFewRounds { rounds, wanted, tests } = found;
    let need = if tests == 1 { "needs" } else { "need" };
    let [rounds, tests] = [(rounds, "round"), (tests, "test")]
        .map(|(count, noun)| format!("{count} {noun}{}", if count == 1 { "" } else { "s" }));
    format!("no verdicts: the plan has {rounds}, and {tests} {need} {wanted} (--rounds {wanted})")
}

/// States after which rounds a run judges its tests. A test can be decided at each of these looks.
pub(super) fn looks_line(looks: &Looks) -> String {
    let look = |look: &Look| format!("{} rounds (p ≤ {:.4})", look.rounds, look.alpha);
    format!("verdicts after {}", looks.at.iter().map(look).collect::<Vec<_>>().join(", "))
}

/// The number of rounds, as text.
pub(super) fn rounds(plan: &Plan) -> String {
    let (min, max) = (plan.rounds_min(), plan.rounds.max());
    match plan.rounds {
        Rounds::Fixed(1) => "1 round".to_owned(),
        Rounds::Fixed(rounds) => format!("{rounds} rounds"),
        Rounds::Budget { .. } => "as many rounds as time allows".to_owned(),
        Rounds::UntilDecided(_) if min == max => format!("{max} rounds"),
        Rounds::UntilDecided(_) => format!("{min} to {max} rounds"),
    }
}

/// The estimated time of a run, in seconds. If the run may end early because all tests are decided, this is the
/// shortest possible time.
pub(super) fn seconds(plan: &Plan) -> f64 {
    match plan.rounds {
        Rounds::Budget { seconds } => seconds,
        Rounds::Fixed(_) | Rounds::UntilDecided(_) => plan.expected_seconds(),
    }
}

/// The estimated time of a run as lists and help show it: `about 70 s`, `about 9m`.
pub(super) fn about(plan: &Plan) -> String {
    const SECONDS_MAX: f64 = 100.0;
    let seconds = seconds(plan);
    if seconds < SECONDS_MAX {
        format!("about {} s", (seconds / 10.0).ceil().max(1.0) * 10.0)
    } else {
        format!("about {}", duration((seconds / 60.0).ceil() * 60.0))
    }
}

/// A duration, with tenths of a second if it is short.
fn short(seconds: f64) -> String {
    if seconds < 10.0 { format!("{seconds:.1}s") } else { duration(seconds) }
}

//! A benchmark of explanations. It plants known causes of differences between two systems on real servers. `dyno
//! explain` must find and prove them.
//!
//! ```console
//! $ cargo build --release -p dyno && cargo run --release -p dyno-bench -- causes
//! ```

mod cause;
mod judged;
mod measure;
mod outcome;
mod plan;
mod slow_build;
mod tally;

use std::path::PathBuf;

use clap::Args;

use self::cause::Cause;
use self::measure::{Effort, measure};
use self::tally::Row;
use crate::support::pair;
use crate::support::program::Program;

#[derive(Args)]
pub(crate) struct Options {
    /// Only these causes, separated by commas.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Longest time of a proof.
    #[arg(long, value_name = "TIME", default_value = "5m")]
    budget: String,
    /// Rounds of a run and of each comparison. By default 6 for a run, and as many for a comparison as the
    /// noise requires.
    #[arg(long, value_parser = clap::value_parser!(u32).range(3..=1000))]
    rounds: Option<u32>,
    /// List the causes without measuring.
    #[arg(long)]
    list: bool,
    /// Folder for plans, results files and outcomes. A cause that has an outcome there is not measured again.
    #[arg(long, value_name = "FOLDER", default_value = "target/causes")]
    out: PathBuf,
    /// The `dyno` program. By default the one in the folder of this program.
    #[arg(long, value_name = "FILE")]
    dyno: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let causes = Cause::chosen(&options.only)?;
    if options.list {
        for cause in &causes {
            println!("{}: {}: {}", cause.name, cause.engine, cause.about);
        }
        return Ok(());
    }
    let program = Program::new(options.dyno.as_deref(), &options.out)?;
    let outcome = all(causes, options, &program);
    let is_stopped = program.is_stopped();
    let rows = outcome?;
    pair::print(
        "Planted causes, and what `dyno explain` and `dyno explain --prove` say",
        tally::table(&rows),
        5,
    );
    let mut totals = pair::table(&["what", "measured", "goal", "met"]);
    for line in tally::totals(&rows) {
        totals.add_row(line);
    }
    pair::print("", totals, 1);
    if is_stopped {
        println!("Stopped. The same command continues. The results so far are in {}.", options.out.display());
    }
    Ok(())
}

/// Measures the causes one after the other, until all are measured or the user stops the benchmark.
fn all(causes: Vec<Cause>, options: &Options, program: &Program) -> anyhow::Result<Vec<Row>> {
    let effort = Effort { rounds: options.rounds, budget: &options.budget };
    let mut rows = Vec::new();
    for cause in causes {
        if program.is_stopped() {
            break;
        }
        eprintln!("{}: {}", cause.name, cause.about);
        let folder = options.out.join(&cause.name);
        let Some(outcome) = measure(&cause, &folder, &effort, program)? else { break };
        // The next causes have other tables, so the data that was loaded for this cause is not needed again.
        program.forget_data()?;
        let row = Row { cause, outcome };
        eprintln!("{}", tally::table(std::slice::from_ref(&row)));
        rows.push(row);
    }
    Ok(rows)
}

//! `dyno compare`: the verdict on a candidate, with an exit status that can gate a job.

mod subject;
mod word;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use dyno_judge::{GateOutcome, Judgement, Quantity, Rule, compare_sessions};
use dyno_report::{RenderOptions, render, render_junit};
use dyno_stats::Margin;
use dyno_store::{Correction, RunId};

use crate::options::{ResultsFile, margin, run_id};
use crate::{failure, output};
use subject::ComparedSystems;

/// Print which tests of a candidate improved, regressed or stayed the same; the exit status can gate a job
#[derive(Debug, Args)]
#[command(
    after_help = "BASE and CANDIDATE are systems of one run (mysql56 myrocks), or runs of one plan (3 7 compares each system with \
itself; 3:mysql 7:mysql compares one). Without them, every system of the run is compared with its base.

Two runs are two sessions. The host may have changed between them, so they have ratios and no verdict. There are \
two ways to get verdicts: measure six or more runs per side in turns (1,4,5,8,9,12 2,3,6,7,10,11), and Dyno pairs runs that \
are neighbours in time; or name an `anchor` in the plan, which is the same system in all runs.

Exit status: 0 nothing regressed; 1 something regressed or failed; 2 no comparison could be made; 3 not decided, \
because of too little evidence, or because a test cannot be judged although the base has usable figures.

Examples:
  dyno compare
  dyno compare mysql56 myrocks --run 3
  dyno compare 1,4,5,8,9,12 2,3,6,7,10,11 --format junit --out verdict.xml
  dyno compare old new --margin 5% --step point-query"
)]
pub(crate) struct Compare {
    /// Base: a system, a run, RUN:SYSTEM, or several runs with commas
    base: Option<String>,
    /// Candidate: a system, a run, RUN:SYSTEM, or several runs with commas
    #[arg(requires = "base")]
    candidate: Option<String>,
    #[command(flatten)]
    results: ResultsFile,
    /// Run that the systems belong to; by default the latest
    #[arg(long, value_name = "ID", value_parser = run_id)]
    run: Option<RunId>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Smallest difference that matters; noise of an A/A pair can raise it for alarms
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = margin)]
    margin: Margin,
    /// Largest probability of any false alarm, from 0.0001 to 0.5
    #[arg(long, value_name = "SHARE", default_value = "0.05", value_parser = alpha)]
    alpha: f64,
    /// Correction for the number of tests; by default that of the plan, or max-t for runs of different plans
    #[arg(long, value_enum)]
    correction: Option<Account>,
    /// Quantity to compare: throughput, a latency, or a cost of an operation; an unknown name lists all
    #[arg(long, value_name = "NAME", default_value = "throughput", value_parser = quantity)]
    quantity: Quantity,
    /// Compare only this step; may be repeated
    #[arg(long = "step", value_name = "ID")]
    steps: Vec<String>,
    /// A system that repeats another, so that their difference is noise; may be repeated
    #[arg(long = "noise", value_name = "CONTROL=SYSTEM", value_parser = control)]
    controls: Vec<(String, String)>,
    /// Count rounds that other processes or the hypervisor disturbed
    #[arg(long)]
    count_disturbed: bool,
    // Not a doc comment, because a doc comment would show the variable in backticks.
    #[arg(long, help = "Append a Markdown summary to the file that $GITHUB_STEP_SUMMARY names")]
    github_summary: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Text for a terminal
    Text,
    /// Markdown
    Markdown,
    /// HTML: one file for a browser
    Html,
    /// JSON for programs
    Json,
    /// XML for continuous integration servers
    Junit,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Account {
    /// Step-down max-T: limits the probability of any false alarm; six rounds can decide any number of tests
    MaxT,
    /// Holm: limits the probability of any false alarm by each test's own p-value; more tests need more rounds
    Holm,
    /// Benjamini and Hochberg: limits the share of false alarms; for exploration
    Fdr,
    /// No correction
    None,
}

impl Compare {
    /// Errors have an exit status other than 1, because 1 is a verdict of this command.
    pub(crate) fn execute(&self) -> ExitCode {
        failure::of_gate(self.judge_and_write())
    }

    fn judge_and_write(&self) -> anyhow::Result<ExitCode> {
        let judgement = self.judge()?;
        match self.write(&judgement) {
            // Even if the reader closes the pipe, the exit status has the verdict.
            Err(error) if !failure::is_closed_pipe(&error) => return Err(error),
            _ => {}
        }
        Ok(match judgement.outcome {
            GateOutcome::NoneRegressed => ExitCode::SUCCESS,
            GateOutcome::SomeRegressed => ExitCode::FAILURE,
            GateOutcome::NotDecided => ExitCode::from(failure::NOT_DECIDED),
        })
    }

    fn judge(&self) -> anyhow::Result<Judgement> {
        let subjects = ComparedSystems::load(
            &self.results.path,
            self.run,
            self.base.as_deref(),
            self.candidate.as_deref(),
            self.count_disturbed,
        )?;
        subjects.check_steps(&self.steps)?;
        subjects.check_systems(self.controls.iter().flat_map(|(control, original)| [control, original]))?;
        Ok(compare_sessions(&subjects.subjects(), &self.rule()))
    }

    fn rule(&self) -> Rule {
        Rule {
            quantity: self.quantity,
            margin: self.margin,
            alpha: self.alpha,
            correction: self.correction.map(|account| match account {
                Account::Holm => Correction::Holm,
                Account::MaxT => Correction::MaxT,
                Account::Fdr => Correction::Fdr,
                Account::None => Correction::None,
            }),
            controls: self.controls.clone(),
            steps: self.steps.clone(),
            ..Rule::default()
        }
    }

    fn write(&self, judgement: &Judgement) -> anyhow::Result<()> {
        let write = |options: &RenderOptions| match self.format {
            Format::Text => render(judgement, dyno_report::Format::Text, options),
            Format::Markdown => render(judgement, dyno_report::Format::Markdown, options),
            Format::Html => render(judgement, dyno_report::Format::Html, options),
            Format::Json => render(judgement, dyno_report::Format::Json, options),
            Format::Junit => render_junit(judgement),
        };
        match &self.out {
            None => output::print_rendered(&write(&output::render_options()))?,
            Some(path) => output::write(path, &write(&RenderOptions::default()))?,
        }
        if self.github_summary {
            append_summary(&render(judgement, dyno_report::Format::Markdown, &RenderOptions::default()))?;
        }
        Ok(())
    }
}

fn append_summary(text: &str) -> anyhow::Result<()> {
    let path = std::env::var_os("GITHUB_STEP_SUMMARY")
        .map(PathBuf::from)
        .context("--github-summary: $GITHUB_STEP_SUMMARY is not set; it is within a GitHub Actions job")?;
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .with_context(|| format!("cannot append to {}", path.display()))?;
    file.write_all(text.as_bytes()).with_context(|| format!("cannot append to {}", path.display()))
}

fn alpha(text: &str) -> Result<f64, String> {
    let alpha: f64 = text.parse().map_err(|_| "must be a share such as 0.05".to_owned())?;
    // If alpha is smaller, too few of ten thousand resamples are in the tail that decides.
    if (0.0001..=0.5).contains(&alpha) { Ok(alpha) } else { Err("must be from 0.0001 to 0.5".to_owned()) }
}

fn quantity(name: &str) -> Result<Quantity, String> {
    let known = || Quantity::ALL.into_iter().filter(|(_, quantity)| *quantity != Quantity::Variation);
    Quantity::from_name(name).filter(|quantity| known().any(|(_, known)| known == *quantity)).ok_or_else(
        || {
            let names: Vec<&str> = known().map(|(name, _)| name).collect();
            format!("must be one of {}", names.join(", "))
        },
    )
}

fn control(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((control, original)) if !control.is_empty() && !original.is_empty() => {
            Ok((control.to_owned(), original.to_owned()))
        }
        _ => Err("must be CONTROL=SYSTEM".to_owned()),
    }
}

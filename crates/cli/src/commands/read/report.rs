//! `dyno report`: prints or writes the report of a run.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use dyno_export::Files;
use dyno_judge::{Rule, analyse, check_trials};
use dyno_report::{
    ChartFile, Details, PageInput, Reasons, RenderOptions, Reports, cell_charts, charts, render,
    render_brief, render_study, reports,
};
use dyno_search::explain::largest;
use dyno_store::{Run, RunChoice, RunId, Store};

use crate::commands::next;
use crate::options::{ReportFormat, ResultsFile, run_id};
use crate::{findings, output, page};

/// Print what a run found: a summary of at most 40 lines, or with --full every table
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno report
  dyno report --full
  dyno report --format html
  dyno report --charts pictures
  dyno report --study --out study.md
  dyno report 3 --format markdown --out first-look.md")]
pub(crate) struct Report {
    /// The run's number; by default the latest run
    #[arg(value_parser = run_id)]
    run: Option<RunId>,
    #[command(flatten)]
    results: ResultsFile,
    /// Output format; only text has a summary
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
    /// Print every table as text instead of the summary; files (--out) always have all tables
    #[arg(long)]
    full: bool,
    /// Print tables for a page about the run, as Markdown: claims with published figures, ratios, rates
    #[arg(long, conflicts_with_all = ["format", "full"])]
    study: bool,
    /// Write to this file instead of standard output (`-`); by default, HTML goes to PLAN-RUN.html beside the
    /// results file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Count rounds that other processes or the hypervisor disturbed
    #[arg(long)]
    count_disturbed: bool,
    /// Write charts as SVG files into this folder, instead of a report
    #[arg(long, value_name = "DIR", conflicts_with_all = ["format", "out", "full", "study"])]
    charts: Option<PathBuf>,
    /// Only the charts of this cell: its seconds and latencies
    #[arg(long, value_name = "STEP/SYSTEM/CLIENTS", requires = "charts")]
    cell: Option<String>,
}

impl Report {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let choice = RunChoice::from(self.run);
        let store = Store::open_read_only(&self.results.path)?;
        let mut run = store.load_run(choice)?;
        run.record.counts_disturbed |= self.count_disturbed;
        if let Some(folder) = &self.charts {
            return self.write_charts(&store, &run, folder);
        }
        let is_standard_output = self.out.as_deref().is_some_and(|path| path == Path::new("-"));
        let out = self.out.filter(|_| !is_standard_output);
        if self.format == ReportFormat::Html {
            let page = page::render(&store, &self.results.path, &run, false)?;
            if is_standard_output {
                output::print_rendered(&page)?;
                return Ok(ExitCode::SUCCESS);
            }
            let path = out.unwrap_or_else(|| page::default_path(&self.results.path, &run));
            page::write(&page, &path)?;
            output::tell(&format!("wrote {}", path.display()));
            return Ok(ExitCode::SUCCESS);
        }
        let checks = check_trials(&store, &run)?;
        let analysis = analyse(&run, &checks, &Rule::default());
        let why = largest(&store, &self.results.path, &run, &analysis)?;
        let reports = Reports { why, ..reports(&run, &checks, &analysis) };
        if self.study {
            let study = render_study(&reports);
            match out {
                None => output::print_rendered(&study)?,
                Some(path) => output::write(&path, &study)?,
            }
            return Ok(ExitCode::SUCCESS);
        }
        let (is_brief, format) = (self.format == ReportFormat::Text && !self.full, self.format.into());
        match out {
            None if is_brief => {
                let next = next::steps(&self.results, run.id, &reports, None);
                let full = next::full_report(&self.results, run.id);
                output::print_rendered(&render_brief(&reports, &full, &next, &output::render_options()))?;
            }
            None => output::print_rendered(&render(&reports, format, &output::render_options()))?,
            Some(path) => output::write(&path, &render(&reports, format, &RenderOptions::default()))?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn write_charts(&self, store: &Store, run: &Run, folder: &Path) -> anyhow::Result<ExitCode> {
        let details = Details::load(store, run)?;
        let curves = findings::curves(run);
        let analysis = analyse(run, &details.checks, &Rule::default());
        let input = PageInput {
            run,
            analysis: &analysis,
            details: &details,
            curves: &curves,
            reasons: &Reasons::default(),
            is_live: false,
        };
        let files = match &self.cell {
            None => charts(&input),
            Some(cell) => {
                let Some((step, system, clients)) = parts(cell) else {
                    bail!("{cell} is no STEP/SYSTEM/CLIENTS, such as point-query/wal/4");
                };
                let files = cell_charts(&input, step, system, clients);
                if files.is_empty() {
                    bail!(
                        "run {} has no completed trial of {cell}; `dyno report {0}` shows what it has",
                        run.id
                    );
                }
                files
            }
        };
        let name = |file: &ChartFile| format!("{}.svg", file.name);
        let all: Vec<String> = files.iter().map(name).collect();
        let mut written = Files::new(folder, &all, true)?;
        for file in &files {
            let name = name(file);
            let path = || format!("cannot write {}", folder.join(&name).display());
            written.create(&name)?.write_all(file.svg.as_bytes()).with_context(path)?;
        }
        written.keep()?;
        output::tell(&format!("wrote {} charts to {}", files.len(), folder.display()));
        Ok(ExitCode::SUCCESS)
    }
}

/// Parses the name of a cell. Names of steps contain no slash.
fn parts(cell: &str) -> Option<(&str, &str, u32)> {
    let (rest, clients) = cell.rsplit_once('/')?;
    let (step, system) = rest.split_once('/')?;
    Some((step, system, clients.parse().ok()?))
}

//! Calls every reader of results files, in the way that the commands do. A reader may return an error, but must not
//! panic.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use dyno_export::{DatasetOptions, ExportError, grow_dataset, read_history};
use dyno_judge::{
    Analysis, ComparedSystem, HistoryRule, Priced, Question, Rule, Target, TrialChecks, TrialEvidence,
    WantedHardware, analyse, cheapest, check_trials, compare, explain, forecasts, histories, scalings,
};
use dyno_report::{
    Details, Format, PageInput, ProofState, Reasons, RenderOptions, Reports, Why, charts, render,
    render_brief, render_html, render_junit, reports,
};
use dyno_store::{Run, RunChoice, Store, StoreError, SystemRecord};

const FORMATS: [Format; 4] = [Format::Text, Format::Markdown, Format::Html, Format::Json];

/// Reads a file with every reader. Copies and histories take the most time, so a call makes only one kind of copy, and
/// renders histories in only one format. `turn` selects the kind and the format. Output goes into the folder.
pub(super) fn read_all(folder: &Path, path: &Path, turn: usize) {
    let Ok(store) = Store::open_read_only(path) else { return };
    let _ = store.check_contents();
    list(&store);
    let _ = copy(&store, folder, turn);
    let Ok(run) = store.load_run(RunChoice::Latest) else { return };
    let _ = store.run_bytes(run.id);
    let Ok(checks) = check_trials(&store, &run) else { return };
    let analysis = analyse(&run, &checks, &Rule::default());
    let found = reports(&run, &checks, &analysis);
    let why = explanations(&store, &run, &analysis);
    let found = Reports { why, ..found };
    for format in FORMATS {
        let _ = render(&found, format, &RenderOptions::default());
    }
    let _ = render_brief(&found, "dyno report --full", &[], &RenderOptions::default());
    compared(&run, &checks, &analysis);
    history(std::slice::from_ref(&run), turn);
    costs(&run, &analysis);
    let _ = pages(&store, &run, &analysis);
}

fn list(store: &Store) {
    for run in store.runs().into_iter().flatten() {
        let _ = dyno_store::utc_text(run.started_at_ms);
        let _ = store.plan_text(run.id);
        let _ = store.search(run.id);
    }
    let _ = store.size();
}

/// Copies the file in the way that `turn` selects: into one of three export formats, into a data set, or by a merge.
fn copy(store: &Store, folder: &Path, turn: usize) -> Result<(), ExportError> {
    match turn % 5 {
        0 => export(store, folder, dyno_export::Format::Parquet),
        1 => export(store, folder, dyno_export::Format::Csv),
        2 => export(store, folder, dyno_export::Format::Jsonl),
        3 => dataset(store, folder, turn),
        _ => Ok(merge(store, folder)?),
    }
}

fn export(store: &Store, folder: &Path, format: dyno_export::Format) -> Result<(), ExportError> {
    let options = dyno_export::Options { format, runs: None, overwrite: true, stop: &AtomicBool::new(false) };
    let to = folder.join("export");
    let exported = dyno_export::export(store, &to, &options).map(drop);
    let _ = fs::remove_dir_all(to);
    exported
}

/// Writes a data set, and reads it as `dyno history` does.
fn dataset(store: &Store, folder: &Path, turn: usize) -> Result<(), ExportError> {
    let to = folder.join("dataset");
    let options = DatasetOptions { runs: None, rewrite: false, stop: &AtomicBool::new(false) };
    let grown = grow_dataset(store, &to, &options, &mut |_| {});
    for run in store.runs()? {
        if let Ok(runs) = read_history(&to, &run.plan_name) {
            history(&runs, turn);
        }
    }
    let _ = fs::remove_dir_all(to);
    grown
}

fn merge(store: &Store, folder: &Path) -> Result<(), StoreError> {
    let path = folder.join("merged.db");
    let mut target = Store::open(&path)?;
    let merged = target.merge(store).map(drop);
    drop(target);
    // An empty results file is about as large as the sample. Therefore a merged file may be about twice as large as
    // the file that was read. The limit allows 1 MiB more.
    let (read, written) = (size(store.path()), size(&path));
    assert!(written <= 2 * read + (1 << 20), "a file of {read} bytes was merged into {written}");
    let _ = fs::remove_file(path);
    merged
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |about| about.len())
}

fn explanations(store: &Store, run: &Run, analysis: &Analysis) -> Vec<Why> {
    let plans = store.statement_plans(run.id).unwrap_or_default();
    let counters = run.trials.iter().filter_map(|trial| Some((trial.id, store.counters(trial.id).ok()?)));
    let evidence = TrialEvidence { plans, counters: counters.collect() };
    let mut found = Vec::new();
    let Some(base) = analysis.base.as_deref() else { return Vec::new() };
    for candidate in &analysis.systems {
        let tests = analysis.comparison(base, candidate).map_or(&[][..], |it| &it.tests);
        for test in tests.iter().take(4) {
            let question = Question { base, candidate, step: &test.step, clients: test.clients };
            found.extend(explain(run, analysis, &evidence, Vec::new(), question));
        }
    }
    for format in FORMATS {
        let _ = render(found.as_slice(), format, &RenderOptions::default());
    }
    let state = || ProofState::Impossible { reason: "nothing was measured".to_owned() };
    found.iter().map(|explanation| Why::of(explanation, state())).collect()
}

fn compared(run: &Run, checks: &TrialChecks, analysis: &Analysis) {
    let subject = |system| ComparedSystem { run, checks, system };
    let [base, candidate, ..] = &analysis.systems[..] else { return };
    let judgement = compare(&[(subject(base), subject(candidate))], &Rule::default());
    for format in FORMATS {
        let _ = render(&judgement, format, &RenderOptions::default());
    }
    let _ = render_junit(&judgement);
}

/// Analyses a history of five runs, which repeats the given runs.
fn history(runs: &[Run], turn: usize) {
    let many: Vec<Run> = runs.iter().cycle().take(5).cloned().collect();
    let found = histories(&many, &HistoryRule::default());
    let _ = render(found.as_slice(), FORMATS[turn % FORMATS.len()], &RenderOptions::default());
}

fn costs(run: &Run, analysis: &Analysis) {
    let wanted = WantedHardware { cpus: vec![4], iops: vec![1000] };
    let target = Target { operations_per_second: 100.0, p99_ms: Some(10.0) };
    for step in &run.steps {
        let clients = &step.clients[..step.clients.len().min(8)];
        let forecasts = forecasts(run, analysis, &step.id, clients, &wanted);
        let prices = |system: &SystemRecord, _| {
            let dollars_per_year = system.dollars_per_year()?;
            Some(Priced { dollars_per_year, by_list: system.price.clone() })
        };
        if let Some(answer) = cheapest(run, analysis, target, &step.id, clients, forecasts, &prices) {
            for format in FORMATS {
                let _ = render(&answer, format, &RenderOptions::default());
            }
        }
    }
}

fn pages(store: &Store, run: &Run, analysis: &Analysis) -> Result<(), StoreError> {
    let _ = scalings(run);
    let details = Details::load(store, run)?;
    let input = PageInput {
        run,
        analysis,
        details: &details,
        curves: &[],
        reasons: &Reasons::default(),
        is_live: false,
    };
    let _ = render_html(&input);
    let _ = charts(&input);
    Ok(())
}

//! Injects faults at random moments of real runs, and counts the damage: committed trials that are lost, leftovers,
//! wrong results that count as good, and runs that cannot be resumed.
//!
//! ```console
//! $ cargo build && cargo run -p dyno-bench -- faults
//! ```

mod bed;
mod inject;
mod kind;
mod ledger;
mod plans;
mod processes;
mod tally;
mod traces;
mod verdicts;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use dyno_fuzz::Random;
use dyno_store::Store;
use signal_hook::consts::{SIGINT, SIGTERM};

use self::bed::Bed;
use self::inject::{Injected, Session};
use self::kind::Kind;
use self::ledger::{Ledger, Trial};
use self::plans::PlanKind;
use self::tally::{Count, Tally};
use self::traces::Traces;
use crate::support::{dyno, pair};

/// Time limit of a run without faults. A run that takes longer counts as stuck.
const PATIENCE: Duration = Duration::from_secs(180);
/// Time limit for child processes to end after their `dyno` has ended.
const AFTERLIFE: Duration = Duration::from_secs(15);
/// Number of attempts, without faults, to complete a run.
const LAST_ATTEMPTS: u32 = 2;

#[derive(Args)]
pub(crate) struct Options {
    /// Number of faults.
    #[arg(long, default_value_t = 200)]
    faults: u32,
    /// Seed of the random choice of faults and moments.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Faults per run. The run is then completed without faults.
    #[arg(long, default_value_t = 10)]
    faults_a_run: u32,
    /// The `dyno` to test, instead of the one in the folder of this program.
    #[arg(long, value_name = "FILE")]
    dyno: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    processes::adopt_orphans().context("orphans cannot be adopted")?;
    let dyno = options.dyno.clone().map_or_else(dyno::beside, Ok)?;
    let bed = Bed::new(&dyno)?;
    let began = Instant::now();
    let mut campaign = Campaign {
        traces: Traces::new(bed.folder()),
        uncleared: BTreeSet::new(),
        ledger: Ledger::new(bed.results()),
        random: Random::new(options.seed, 0),
        tally: Tally::default(),
        to_come: Vec::new(),
        recent: None,
        stop,
        bed: &bed,
    };
    let outcome = campaign.all(options);
    let minutes = began.elapsed().as_secs_f64() / 60.0;
    let Tally { runs, trials, .. } = campaign.tally;
    let title = format!(
        "dyno-bench faults --faults {} --seed {}: {minutes:.0} minutes, {runs} runs, {trials} trials committed",
        options.faults, options.seed
    );
    pair::print(&title, campaign.tally.table(), 1);
    outcome
}

/// Executes runs one after the other, and injects faults into each.
struct Campaign<'a> {
    bed: &'a Bed,
    traces: Traces,
    /// Caches whose last session was killed or could not remove its files. The next session in the same cache
    /// removes the files.
    uncleared: BTreeSet<PathBuf>,
    ledger: Ledger,
    random: Random,
    tally: Tally,
    /// The kinds of faults that have not been injected yet in the current cycle. Each kind is injected once in a cycle.
    to_come: Vec<Kind>,
    /// The most recent fault. The next damage that is found is attributed to this fault.
    recent: Option<Kind>,
    stop: Arc<AtomicBool>,
}

/// The next step after a session.
enum Next {
    Resume,
    /// The session ended before it began a run, so a new run must be started.
    Anew,
    Complete,
    /// The run is incomplete, but `dyno` did not resume it.
    Refused,
}

/// How a session, one `dyno run`, ended.
struct Ended {
    /// `None` if the session was stuck and was killed.
    status: Option<ExitStatus>,
    said: String,
}

impl Campaign<'_> {
    fn all(&mut self, options: &Options) -> anyhow::Result<()> {
        let mut plans = PlanKind::ALL.into_iter().cycle();
        while self.tally.injected() < options.faults && !self.is_stopped() {
            let Some(plan) = plans.next() else { break };
            if plan == PlanKind::Confined && !self.bed.is_root {
                continue;
            }
            self.one_run(plan, options)?;
            self.tally.runs += 1;
            eprintln!("{} faults, {} runs", self.tally.injected(), self.tally.runs);
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Injects faults into one run, and then completes it.
    fn one_run(&mut self, plan: PlanKind, options: &Options) -> anyhow::Result<()> {
        let mut resumes = false;
        let until = (self.tally.injected() + options.faults_a_run).min(options.faults);
        let mut last_attempts = 0..LAST_ATTEMPTS;
        while !self.is_stopped() {
            if self.tally.injected() >= until && last_attempts.next().is_none() {
                self.find(Count::NotResumed, &format!("the run of {} comes to no end", plan.name()));
                break;
            }
            let ended = self.session(plan, resumes, until)?;
            match self.next(plan, &ended)? {
                Next::Resume => resumes = true,
                Next::Anew => resumes = false,
                Next::Complete => return self.expect_complete(plan),
                Next::Refused => {
                    self.find(Count::NotResumed, &format!("{}: {}", plan.name(), ended.said));
                    break;
                }
            }
        }
        Ok(())
    }

    /// Decides what to do with the plan's run after a session.
    fn next(&mut self, plan: PlanKind, ended: &Ended) -> anyhow::Result<Next> {
        let is_complete = ended.said.contains("is complete");
        if ended.said.contains("cannot resume") && !is_complete {
            return Ok(Next::Refused);
        }
        let run = self.ledger.last_run(plan.name())?;
        if is_complete || ended.status.is_some_and(|status| status.success()) {
            self.tally.known_runs.extend(run.map(|run| run.id));
            return Ok(Next::Complete);
        }
        let has_begun = run.is_some_and(|run| !self.tally.is_known(run.id));
        Ok(if has_begun { Next::Resume } else { Next::Anew })
    }

    /// Checks that a run that ended successfully has all its rounds.
    fn expect_complete(&mut self, plan: PlanKind) -> anyhow::Result<()> {
        let Some(run) = self.ledger.last_run(plan.name())? else { return Ok(()) };
        let rounds = self.ledger.rounds_complete(run.id)?;
        if run.status != "finished" || rounds < plans::ROUNDS {
            let what = format!(
                "run {} is {} with {rounds} complete rounds of {}",
                run.id,
                run.status,
                plans::ROUNDS
            );
            self.find(Count::NotResumed, &what);
        }
        Ok(())
    }

    /// Executes one `dyno run`. Injects faults until one of them ends the run, or until the number of faults in all
    /// runs so far is `until`. Returns how the session ended.
    fn session(&mut self, plan: PlanKind, resume: bool, until: u32) -> anyhow::Result<Ended> {
        let known: BTreeSet<i64> = self.read()?.iter().map(|trial| trial.id).collect();
        let said = self.bed.path("said.txt");
        let mut dyno = self.bed.start(plan, resume, &said)?;
        let mut session = Session { bed: self.bed, plan, dyno: &mut dyno };
        let mut injected: Vec<Injected> = Vec::new();
        let mut window = plan.window_seconds();
        while self.tally.injected() < until && !self.stop.load(Ordering::Relaxed) {
            let moment = Duration::from_millis(self.random.below((window * 1000.0) as u64));
            if !session.sleep(moment) {
                break;
            }
            let Some(kind) = self.next_kind(plan) else { break };
            self.traces.note(session.dyno.id().cast_signed());
            match session.inject(kind, &mut self.random)? {
                Some(fault) => {
                    self.tally.inject(kind);
                    self.recent = Some(kind);
                    let ends = fault.ends_dyno;
                    injected.push(fault);
                    if ends {
                        break;
                    }
                }
                // Nothing appeared that this kind of fault can hit, so the kind remains to be injected later.
                None => self.to_come.push(kind),
            }
            // After the first fault, the run has less time left. Therefore the random waits before further faults are
            // shorter.
            window = plan.window_seconds() / 2.0;
        }
        let ended = self.end(dyno, &said)?;
        self.judge(plan, &known, &injected, &ended)?;
        Ok(ended)
    }

    /// Draws the next kind of fault that can be injected into a run of the plan. In the long run, all kinds are drawn
    /// equally often.
    fn next_kind(&mut self, plan: PlanKind) -> Option<Kind> {
        for _ in 0..2 {
            let fits = |kind: &Kind| kind.fits(plan, self.bed.is_root);
            let fitting: Vec<usize> = (0..self.to_come.len()).filter(|at| fits(&self.to_come[*at])).collect();
            if !fitting.is_empty() {
                let at = fitting[self.random.index(fitting.len())];
                return Some(self.to_come.swap_remove(at));
            }
            self.to_come.extend(Kind::ALL);
        }
        None
    }

    /// Waits until a run and all its child processes have ended.
    fn end(&mut self, mut dyno: std::process::Child, said: &std::path::Path) -> anyhow::Result<Ended> {
        let began = Instant::now();
        let mut is_stuck = false;
        let status = loop {
            if let Some(status) = dyno.try_wait()? {
                break status;
            }
            if self.is_stopped() || began.elapsed() > PATIENCE {
                is_stuck = !self.is_stopped();
                dyno.kill()?;
            }
            self.traces.note(dyno.id().cast_signed());
            thread::sleep(Duration::from_millis(50));
        };
        let said = fs::read_to_string(said).unwrap_or_default();
        if is_stuck {
            self.find(Count::NotResumed, &format!("`dyno run` was stuck: {said}"));
        }
        for process in processes::gone_within(AFTERLIFE) {
            self.find(Count::LeftBehind, &format!("process {} {}", process.pid, process.command));
            processes::send(libc::SIGKILL, process.pid);
        }
        processes::gone_within(AFTERLIFE);
        Ok(Ended { status: (!is_stuck).then_some(status), said })
    }

    /// Checks the trials of a session. Also looks for leftovers, unless a later session has to remove them.
    fn judge(
        &mut self,
        plan: PlanKind,
        known: &BTreeSet<i64>,
        injected: &[Injected],
        ended: &Ended,
    ) -> anyhow::Result<()> {
        if self.is_stopped() {
            return Ok(());
        }
        let trials: Vec<Trial> =
            self.read()?.into_iter().filter(|trial| !known.contains(&trial.id)).collect();
        for fault in injected {
            for what in verdicts::wrong(fault, &trials) {
                self.recent = Some(fault.kind);
                self.find(Count::WrongAsGood, &what);
            }
        }
        for what in verdicts::contradictions(&trials) {
            self.find(Count::WrongAsGood, &what);
        }
        if self.bed.results().exists() {
            match Store::open_read_only(&self.bed.results()).and_then(|store| store.check_contents()) {
                Ok(faults) => {
                    for fault in &faults {
                        self.find(Count::WrongAsGood, &fault.to_string());
                    }
                }
                Err(dyno_store::StoreError::Empty { .. }) => {}
                Err(error) => self.find(Count::Lost, &error.to_string()),
            }
        }
        let could_remove = injected.iter().all(|fault| fault.kind != Kind::NoRightToWrite);
        let was_killed = ended.status.is_none_or(|status| status.code().is_none());
        let cache = self.bed.cache(plan);
        if could_remove && !was_killed {
            self.uncleared.remove(&cache);
        } else {
            self.uncleared.insert(cache);
        }
        if self.uncleared.is_empty() {
            for what in self.traces.left() {
                self.find(Count::LeftBehind, &format!("{what}\n    after: {}", last_lines(&ended.said)));
            }
            self.traces.clear();
        }
        Ok(())
    }

    /// Reads the committed trials. Counts trials as lost if they are gone or have changed.
    fn read(&mut self) -> anyhow::Result<Vec<Trial>> {
        let (trials, lost) = self.ledger.read().with_context(|| self.ledger.path().display().to_string())?;
        for _ in 0..lost {
            self.find(Count::Lost, "a committed trial is gone or changed");
        }
        self.tally.trials = trials.len();
        Ok(trials)
    }

    fn find(&mut self, count: Count, what: &str) {
        let fault = self.recent.map_or("before any fault", Kind::words);
        eprintln!("FOUND {} ({fault}): {what}", count.words());
        self.tally.find(self.recent, count);
    }
}

/// Returns the last three lines of a run's output.
fn last_lines(said: &str) -> String {
    let lines: Vec<&str> = said.lines().rev().take(3).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" / ")
}

//! Prints reports from the load's frames.

use dyno_load::{Connected, Fairness, Frame, Milestone, Tick, Total};
use dyno_script::{ScriptError, Stat};

use super::figures::Figures;
use super::hooks::Hooks;
use super::json::{Line, Run, Stretch};
use super::{ReportedWork, header, histogram, interval, statistics};
use crate::log::Log;
use crate::options::settings::{Format, Settings};

/// Tolerance for the length of ticks, which are slightly longer or shorter than requested.
const SLACK_SECONDS: f64 = 0.005;

/// Longest time, in µs, for which a script may block its event loop without a warning. Other connections wait during
/// this time.
const STALL_US: u64 = 100_000;

/// Number of events that fit into sysbench's queue: a ring buffer of 2¹⁷ elements, one of which is always empty.
const QUEUE_LENGTH_MAX: u64 = (1 << 17) - 1;

/// The words of sysbench when its queue is full.
const QUEUE_IS_FULL: &str = "The event queue is full. This means the worker threads are unable to keep up with the \
                             specified event generation rate";

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Well,
    Forced,
    Failed,
}

/// Prints a run's reports, frame by frame.
pub(crate) struct Reporter<'a, 'b> {
    log: &'a mut Log<'b>,
    settings: &'a Settings,
    test: &'a str,
    subject: ReportedWork,
    hooks: Option<Hooks>,
    interval: Figures,
    /// Time at which the current interval ends, in seconds since the start of the run.
    interval_due_seconds: f64,
    since_checkpoint: Figures,
    /// Lines that the script printed after the load, to be printed after the report.
    last_words: Option<Vec<String>>,
    ended: Ended,
}

impl<'a, 'b> Reporter<'a, 'b> {
    /// Creates a reporter. For a script, `subject` is [`ReportedWork::Events`] until the script uses a database.
    pub(crate) fn new(
        log: &'a mut Log<'b>,
        settings: &'a Settings,
        test: &'a str,
        subject: ReportedWork,
        hooks: Option<Hooks>,
    ) -> Self {
        let fresh = Figures { threads: settings.threads, ..Figures::default() };
        Self {
            log,
            settings,
            test,
            subject,
            hooks,
            interval: fresh.clone(),
            interval_due_seconds: settings.interval_seconds.unwrap_or(f64::INFINITY),
            since_checkpoint: fresh,
            last_words: None,
            ended: Ended::Well,
        }
    }

    /// How the run ended. Valid once the run's last frame was handled.
    pub(crate) fn ended(&self) -> Ended {
        self.ended
    }

    /// Whether the run should end now, because nobody reads its output any longer or because it has failed.
    pub(crate) fn is_over(&self) -> bool {
        self.log.is_closed() || self.ended == Ended::Failed
    }

    pub(crate) fn frame(&mut self, frame: Frame) {
        match frame {
            Frame::Connected(connected) => self.connected(&connected),
            Frame::Measuring => self.measuring(),
            Frame::Tick(tick) => self.tick(&tick),
            Frame::Reached { milestone } => self.reached(milestone),
            Frame::Log { text } => self.printed(text),
            Frame::Finished(total) => self.finished(&total),
            Frame::Failed { message, total, is_whole } => {
                if let Some(total) = total.filter(|_| is_whole) {
                    self.finished(&total);
                }
                self.failed(&message);
            }
            // The drop-in's jobs have no slices, so the load never sends these frames.
            Frame::Slice(_) | Frame::Names { .. } => {}
        }
    }

    /// Prints the messages that sysbench prints at this point of a script's test, after the output of `init`.
    fn reached(&mut self, milestone: Milestone) {
        match milestone {
            Milestone::Initialized => {
                self.log.notice(&header(self.settings));
                self.log.notice("Initializing worker threads...\n\n");
                self.workers("started");
            }
            Milestone::Ending => {
                let at = self.since_checkpoint.elapsed_seconds + SLACK_SECONDS;
                if self.settings.seconds.is_some_and(|seconds| at >= seconds) {
                    self.log.info("Time limit exceeded, exiting...\n");
                } else if self.settings.events.is_some() {
                    self.log.info("Event limit exceeded, exiting...\n");
                }
            }
            Milestone::Over => self.last_words = Some(Vec::new()),
        }
    }

    fn workers(&mut self, what: &str) {
        for number in 0..self.settings.threads {
            self.log.debug(&format!("Worker thread (#{number}) {what}"));
        }
    }

    fn printed(&mut self, line: String) {
        match &mut self.last_words {
            Some(lines) => lines.push(line),
            None => self.log.script(&line),
        }
    }

    /// Prints the output of the script's `done`.
    fn last_words(&mut self) {
        for line in self.last_words.take().into_iter().flatten() {
            self.log.script(&line);
        }
    }

    fn connected(&mut self, connected: &Connected) {
        if connected.database {
            self.subject = ReportedWork::Database;
        }
        self.workers("initialized");
        self.log.notice("Threads started!\n\n");
        self.log.debug(&format!("load by {} on {} thread(s)", connected.method, connected.threads));
        if self.settings.warmup_seconds > 0.0 {
            self.log.notice(&format!("Warming up for {} seconds...\n\n", self.settings.warmup_seconds));
        }
        self.json(&Line::start(self.test, connected, self.settings));
    }

    fn measuring(&mut self) {
        let fresh = Figures { threads: self.settings.threads, ..Figures::default() };
        (self.interval, self.since_checkpoint) = (fresh.clone(), fresh);
        self.interval_due_seconds = self.settings.interval_seconds.unwrap_or(f64::INFINITY);
    }

    fn tick(&mut self, tick: &Tick) {
        if self.subject == ReportedWork::Events && tick.counts.queries() > 0 {
            self.subject = ReportedWork::Database;
        }
        self.interval.add(tick);
        self.since_checkpoint.add(tick);
        self.check_queue(tick.backlog);
        // The elapsed time of the run, and not the number of ticks, decides when an interval ends, because the tick
        // after a late tick is short.
        if self.interval.elapsed_seconds + SLACK_SECONDS >= self.interval_due_seconds {
            let length_seconds = self.settings.interval_seconds.unwrap_or(f64::INFINITY);
            let over = ((self.interval.elapsed_seconds + SLACK_SECONDS) / length_seconds).floor();
            self.interval_due_seconds = (over + 1.0) * length_seconds;
            self.interval_is_over(tick.warmup);
        }
        if let Some(fairness) = tick.checkpoint {
            self.checkpoint(fairness);
        }
    }

    fn interval_is_over(&mut self, warmup: bool) {
        let figures = self.interval.take();
        let stretch = Stretch::new(&figures, &self.settings.percentiles);
        self.json(&Line::Interval { warmup, stretch });
        if warmup {
            // An interval of the warm-up has no line, because readers of progress take every line for a
            // measurement.
            return;
        }
        let stat = figures.stat(self.settings.percentiles.first().copied());
        let reported = self.hooks.as_mut().map(|hooks| hooks.intermediate(&stat, self.log));
        if !self.is_reported(reported) {
            let lines = interval::lines(self.subject, &figures, self.settings);
            self.log.notice(&lines);
        }
    }

    fn checkpoint(&mut self, fairness: Fairness) {
        let figures = Figures { fairness: Some(fairness), ..self.since_checkpoint.take() };
        let stretch = Stretch::new(&figures, &self.settings.percentiles);
        self.json(&Line::Checkpoint { stretch });
        self.log.notice(&format!("[ {:.0}s ] Checkpoint report:\n", figures.elapsed_seconds));
        self.report(&figures, self.settings.threads);
    }

    /// Fails the run if more events are due than fit into sysbench's queue.
    fn check_queue(&mut self, backlog: u64) {
        if backlog > QUEUE_LENGTH_MAX && self.ended != Ended::Failed {
            self.ended = Ended::Failed;
            self.log.fatal(QUEUE_IS_FULL);
        }
    }

    fn finished(&mut self, total: &Total) {
        self.check_queue(total.backlog);
        if self.ended == Ended::Failed {
            // As in sysbench, a run whose queue is full has no report.
            self.end_reports();
            self.last_words();
            self.json(&Line::Failed { message: QUEUE_IS_FULL });
            return;
        }
        if total.unfinished > 0 && self.settings.forced_shutdown_seconds.is_some() {
            self.ended = Ended::Forced;
            self.log.fatal("The --max-time limit has expired, forcing shutdown...");
        }
        let sustained =
            self.settings.rate.as_ref().map(|_| total.backlog <= u64::from(self.settings.threads));
        let figures = Figures::of_run(total, self.settings.threads);
        let stretch = Stretch::new(&figures, &self.settings.percentiles);
        self.json(&Line::Final { stretch, run: Run::new(total, sustained) });
        self.end_reports();
        self.log.info("Done.\n\n");
        let figures = match total.since_checkpoint {
            None => figures,
            fairness => {
                let unfinished = total.unfinished;
                Figures { unfinished, fairness, ..self.since_checkpoint.take() }
            }
        };
        if self.settings.histogram && self.ended != Ended::Forced {
            self.log.notice(&histogram::draw(&figures.latency));
        }
        self.report(&figures, 0);
        self.end_reports();
        self.last_words();
        if sustained == Some(false) {
            let (waiting, oldest_ns) = (total.backlog, total.censored.exact().map_or(0, |ages| ages.max_ns));
            self.log.warning(&format!(
                "rate not sustained: {waiting} events were due and had not begun at the end; the oldest had waited \
                 {:.2} s",
                oldest_ns as f64 / 1e9
            ));
        }
        if total.stall_us_max > STALL_US {
            let stall_ms = total.stall_us_max / 1000;
            self.log.warning(&format!(
                "the script kept other connections waiting for up to {stall_ms} ms: if it blocks, use \
                 --scheduler=thread"
            ));
        }
    }

    /// Prints a whole report, by the script's hook or else by Dyno. The hook gets the number of threads that are
    /// running.
    fn report(&mut self, figures: &Figures, threads_running: u32) {
        let stat = figures.stat(self.settings.percentiles.first().copied());
        let stat = Stat { threads_running, ..stat };
        let reported = self.hooks.as_mut().map(|hooks| hooks.cumulative(&stat, self.log));
        if !self.is_reported(reported) {
            self.log.notice(&statistics::text(self.subject, figures, self.settings));
        }
    }

    /// Ends the list of JSON reports, if a hook has begun one.
    fn end_reports(&mut self) {
        let ended = self.hooks.as_mut().map(|hooks| hooks.end(self.log).map(|()| true));
        self.is_reported(ended);
    }

    fn failed(&mut self, message: &str) {
        self.ended = Ended::Failed;
        self.last_words();
        self.log.fatal(message);
        self.json(&Line::Failed { message });
    }

    /// Whether a hook has printed the report. If a hook fails, the failure is printed, and no hook is called again.
    fn is_reported(&mut self, outcome: Option<Result<bool, ScriptError>>) -> bool {
        match outcome {
            None => false,
            Some(Ok(reported)) => reported,
            Some(Err(error)) => {
                self.hooks = None;
                self.log.warning(&format!("a report hook failed and is left out from here on: {error}"));
                false
            }
        }
    }

    fn json(&mut self, line: &Line<'_>) {
        if self.settings.format == Format::Json {
            self.log.result(&line.text());
        }
    }
}

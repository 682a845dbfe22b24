//! From the load's frames to what is printed.

use std::collections::VecDeque;

use dyno_load::{Connected, Frame, Tick, Total};
use dyno_script::ScriptError;

use super::figures::Figures;
use super::hooks::Hooks;
use super::json::{Line, Run, Stretch};
use super::{Subject, interval, statistics};
use crate::log::Log;
use crate::settings::{Format, Settings};

/// Ticks are a little longer or shorter than they should be; what is due within this time is due.
const SLACK_SECONDS: f64 = 0.005;

/// A script that keeps its event loop from other connections for longer than this is spoken of.
const STALL_US: u64 = 100_000;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Well,
    /// Events were dropped.
    Forced,
    Failed,
}

/// Prints what a run comes to, frame by frame.
pub(crate) struct Reporter<'a, 'b> {
    log: &'a mut Log<'b>,
    settings: &'a Settings,
    test: &'a str,
    subject: Subject,
    hooks: Option<Hooks>,
    interval: Figures,
    since_checkpoint: Figures,
    checkpoints_seconds: VecDeque<f64>,
    checkpoints_passed: u32,
    ended: Ended,
}

impl<'a, 'b> Reporter<'a, 'b> {
    /// `subject`: of a script [`Subject::Events`], until it is seen to talk to a database.
    pub(crate) fn new(
        log: &'a mut Log<'b>,
        settings: &'a Settings,
        test: &'a str,
        subject: Subject,
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
            since_checkpoint: fresh,
            checkpoints_seconds: settings.checkpoints_seconds.iter().copied().collect(),
            checkpoints_passed: 0,
            ended: Ended::Well,
        }
    }

    /// How the run ended, once its last frame was taken.
    pub(crate) fn ended(&self) -> Ended {
        self.ended
    }

    /// Whether nobody reads on.
    pub(crate) fn is_unheard(&self) -> bool {
        self.log.is_closed()
    }

    pub(crate) fn frame(&mut self, frame: Frame) {
        match frame {
            Frame::Connected(connected) => self.connected(&connected),
            Frame::Measuring => self.measuring(),
            Frame::Tick(tick) => self.tick(&tick),
            Frame::Log { text } => self.log.script(&text),
            Frame::Finished(total) => self.finished(&total),
            Frame::Failed { message, .. } => self.failed(&message),
        }
    }

    fn connected(&mut self, connected: &Connected) {
        if connected.database {
            self.subject = Subject::Database;
        }
        self.log.notice("Threads started!\n\n");
        self.log.debug(&format!("load by {} on {} thread(s)", connected.method, connected.threads));
        self.json(&Line::start(self.test, connected, self.settings));
    }

    fn measuring(&mut self) {
        if self.settings.warmup_seconds > 0.0 {
            self.log.notice("Warm-up is over, measuring\n\n");
        }
        let fresh = Figures { threads: self.settings.threads, ..Figures::default() };
        (self.interval, self.since_checkpoint) = (fresh.clone(), fresh);
    }

    fn tick(&mut self, tick: &Tick) {
        if self.subject == Subject::Events && tick.counts.queries() > 0 {
            self.subject = Subject::Database;
        }
        self.interval.add(tick);
        self.since_checkpoint.add(tick);
        let reported = self.settings.interval_seconds;
        if reported.is_some_and(|seconds| self.interval.seconds + SLACK_SECONDS >= seconds) {
            self.interval_is_over(tick.warmup);
        }
        let due = |&at: &f64| self.since_checkpoint.elapsed_seconds + SLACK_SECONDS >= at;
        if !tick.warmup && self.checkpoints_seconds.front().is_some_and(due) {
            self.checkpoints_seconds.pop_front();
            self.checkpoint();
        }
    }

    fn interval_is_over(&mut self, warmup: bool) {
        let figures = self.interval.take();
        let stretch = Stretch::new(&figures, &self.settings.percentiles);
        self.json(&Line::Interval { warmup, stretch });
        let stat = figures.stat(self.settings.percentiles.first().copied());
        let reported = self.hooks.as_mut().map(|hooks| hooks.intermediate(&stat, self.log));
        if !self.is_reported(reported) {
            let lines = interval::lines(self.subject, &figures, self.settings);
            self.log.notice(&lines);
        }
    }

    fn checkpoint(&mut self) {
        let figures = self.since_checkpoint.take();
        self.checkpoints_passed += 1;
        let stretch = Stretch::new(&figures, &self.settings.percentiles);
        self.json(&Line::Checkpoint { stretch });
        self.log.notice(&format!("[ {:.0}s ] Checkpoint report:\n", figures.elapsed_seconds));
        self.report(&figures);
    }

    fn finished(&mut self, total: &Total) {
        if total.unfinished > 0 && self.settings.forced_shutdown_seconds.is_some() {
            self.ended = Ended::Forced;
            self.log.fatal("The --time limit has expired, forcing shutdown...");
        }
        let sustained =
            self.settings.rate.as_ref().map(|_| total.backlog <= u64::from(self.settings.threads));
        let figures = Figures::of_run(total, self.settings.threads);
        let stretch = Stretch::new(&figures, &self.settings.percentiles);
        self.json(&Line::Final { stretch, run: Run::new(total, sustained) });
        let ended = self.hooks.as_mut().map(|hooks| hooks.end(self.log).map(|()| true));
        self.is_reported(ended);
        self.log.info("Done.\n\n");
        if self.checkpoints_passed == 0 {
            self.report(&figures);
        } else {
            let rest = Figures { unfinished: total.unfinished, ..self.since_checkpoint.take() };
            self.report(&rest);
        }
        if sustained == Some(false) {
            let waiting = total.backlog;
            self.log.warning(&format!(
                "rate not sustained: {waiting} events were due and had not begun at the end"
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

    /// A whole report, by the script's hook or by Dyno.
    fn report(&mut self, figures: &Figures) {
        let stat = figures.stat(self.settings.percentiles.first().copied());
        let reported = self.hooks.as_mut().map(|hooks| hooks.cumulative(&stat, self.log));
        if !self.is_reported(reported) {
            self.log.notice(&statistics::text(self.subject, figures, self.settings));
        }
    }

    fn failed(&mut self, message: &str) {
        self.ended = Ended::Failed;
        self.log.fatal(message);
        self.json(&Line::Failed { message });
    }

    /// Whether a hook has reported; a hook that failed is told, and not called again.
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

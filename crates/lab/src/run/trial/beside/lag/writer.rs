//! Commits tokens on the primary.

use std::time::{Duration, Instant};

use dyno_engine::TokenWriter;

use super::{ANSWER_PATIENCE, GLANCE, LagProbe, Token};

/// Time between two tokens. Twenty small commits per second add little to a load.
const EVERY: Duration = Duration::from_millis(50);

impl LagProbe<'_> {
    /// Commits tokens while the trial is measured. If the primary does not answer, for example because the plan
    /// crashes it, tries again.
    pub(super) fn write(&self) {
        let mut writer: Option<TokenWriter> = self.topology.writer(ANSWER_PATIENCE).ok();
        if self.wait_to_begin().is_none() {
            return;
        }
        let mut due = Instant::now();
        while self.ended().is_none() && !self.is_over() {
            let now = Instant::now();
            if now < due {
                self.wait((due - now).min(GLANCE));
                continue;
            }
            // If a commit took long, the tokens that were due meanwhile are skipped.
            due = now + EVERY;
            if writer.is_none() {
                writer = self.topology.writer(ANSWER_PATIENCE).ok();
            }
            let Some(open) = &mut writer else { continue };
            match open.write() {
                Ok(number) => {
                    self.progress().tokens.push(Token { number, committed: Instant::now() });
                    self.changed.notify_all();
                }
                Err(_) => writer = None,
            }
        }
    }
}

//! Commits tokens on the primary.

use std::time::{Duration, Instant};

use dyno_engine::TokenWriter;

use super::{ANSWER_PATIENCE, GLANCE, LagProbe, Token};

/// Time between two tokens. Twenty small commits a second are little beside a load.
const EVERY: Duration = Duration::from_millis(50);

impl LagProbe<'_> {
    /// Commits tokens while the trial is measured. A primary that does not answer, as in a crash of the plan, is tried
    /// again.
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
            // After a commit that took long, no tokens are made up for.
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

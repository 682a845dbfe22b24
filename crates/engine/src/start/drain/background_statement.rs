//! Executes long statements in the background, on their own connection.

use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use dyno_client::{Client, ClientError};

/// Statements that run in the background. They run to their end even if this value is dropped.
pub(super) struct BackgroundStatement {
    left: Arc<AtomicUsize>,
    thread: Option<JoinHandle<Result<(), ClientError>>>,
}

impl BackgroundStatement {
    pub(super) fn start(mut client: Client, statements: &'static [&'static str]) -> Self {
        let left = Arc::new(AtomicUsize::new(statements.len()));
        let counter = Arc::clone(&left);
        let execute = move || {
            for statement in statements {
                client.query(statement)?;
                counter.fetch_sub(1, Ordering::Relaxed);
            }
            Ok(())
        };
        Self { left, thread: Some(thread::spawn(execute)) }
    }

    /// The number of unfinished statements, or the error of a statement that failed.
    pub(super) fn left(&mut self) -> Result<f64, ClientError> {
        if self.thread.as_ref().is_some_and(JoinHandle::is_finished) {
            self.wait()?;
        }
        Ok(self.left.load(Ordering::Relaxed) as f64)
    }

    /// Waits until the last statement ends or a statement fails.
    pub(super) fn wait(&mut self) -> Result<(), ClientError> {
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(outcome)) => outcome,
            Some(Err(panic)) => panic::resume_unwind(panic),
        }
    }
}

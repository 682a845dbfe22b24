//! The workers of a job: event loops with many connections each, or threads with one connection each.

mod connections;
mod event_loop;
mod link;
mod replay;
mod retry;
mod shared;
mod slot;
mod thread;
mod timers;
mod trace;

pub(crate) use connections::Connections;
pub(crate) use event_loop::EventLoop;
pub(crate) use replay::{CommitOrder, ReplayLoop};
pub(crate) use shared::{Assignment, Message, PANICKED, Shared, WorkerReport};
pub(crate) use thread::{Thread, ThreadError, ThreadHost};

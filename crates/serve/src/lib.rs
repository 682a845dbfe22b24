//! Serves the results file as web pages: a list of its runs, each run's report, and the progress of a current run.
//! Monitoring reads `/metrics`.
//!
//! The server is read-only. It opens the results file only for reading, and answers only `GET` and `HEAD`. If it
//! listens on a loopback address, every user of this machine has access. On other addresses, readers need the
//! token.

mod access;
mod answer;
mod events;
mod live;
mod metrics;
mod pages;
mod places;
mod request;
mod route;
mod server;

pub use live::{Live, LiveFile, LiveTrial, Seconds};
pub use pages::Render;
pub use server::{Log, Options, ServeError, Server};

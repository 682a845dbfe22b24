//! Serves the results file as web pages: a list of its runs, each run's report, and the progress of a current run. `/metrics` is for
//! monitoring.
//!
//! The server is read-only. It opens the results file for reading and refuses requests other than `GET` and `HEAD`. On a
//! loopback address every user of this machine has access; on other addresses, readers need the token.

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

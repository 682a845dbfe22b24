//! Serves the results file as web pages: a list of its runs, each run's report, and the progress of a current run.
//!
//! The server is read-only. It opens the results file for reading and refuses requests other than `GET`. On a loopback
//! address every user of this machine has access; on other addresses, readers need the token.

mod access;
mod events;
mod http;
mod live;
mod pages;
mod server;

pub use live::{Live, LiveFile, LiveTrial, Seconds};
pub use pages::Render;
pub use server::{Options, ServeError, Server};

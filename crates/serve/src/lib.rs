//! The results file as web pages: a list of its runs, each run's report, and the progress of a running one.
//!
//! Read-only throughout: the results file is opened for reading, and requests other than `GET` are refused. On a
//! loopback address whoever is on this machine may ask, elsewhere who has the token.

mod access;
mod events;
mod http;
mod live;
mod pages;
mod server;

pub use live::{Live, LiveFile, LiveTrial, Seconds};
pub use pages::Render;
pub use server::{Options, ServeError, Server};

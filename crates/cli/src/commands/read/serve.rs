//! `dyno serve`: serves the results file as web pages.

use std::env;
use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use dyno_serve::{Options, Server};

use crate::options::ResultsFile;
use crate::{failure, interrupt, output, page};

/// Serve reports as web pages; a run in another terminal is shown live
#[derive(Debug, Args)]
#[command(
    after_help = "The server never changes the results file. If it listens on an address that other machines can reach, readers \
need the token. Prometheus reads /metrics; see docs/do/monitoring.md.

Examples:
  dyno serve
  dyno serve --listen 0.0.0.0:8080 --token s3cret"
)]
pub(crate) struct Serve {
    #[command(flatten)]
    results: ResultsFile,
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Token that readers need; required unless the address is this machine's own. The variable `DYNO_TOKEN`
    /// sets it too, and is not visible in the process list
    #[arg(long)]
    token: Option<String>,
}

impl Serve {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let stop = interrupt::stop_flag()?;
        let token = self.token.or_else(|| env::var("DYNO_TOKEN").ok());
        let results = self.results.path.clone();
        let options = Options { results: self.results.path, listen: self.listen, token };
        let server = Server::start(
            options,
            Box::new(move |store, run, is_live| {
                page::render(store, &results, run, is_live).map_err(|error| failure::sentence(&error).into())
            }),
            Box::new(output::warn),
        )?;
        output::tell(&format!("serving {}; ^C ends it", server.address()));
        server.serve(&stop).context("cannot take connections any longer")?;
        Ok(ExitCode::SUCCESS)
    }
}

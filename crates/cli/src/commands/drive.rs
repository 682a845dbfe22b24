//! `dyno drive`: the load process. `dyno run` starts it; users do not.
//!
//! The load process drops root's rights after it has opened its program, before any script code runs. A script reads
//! files in its own folder. If that folder is closed to other accounts, the load process keeps `CAP_DAC_READ_SEARCH`.
//! Programs that the script starts do not inherit this capability. The load process keeps root's account only if the
//! job names a socket or a database file that Dyno did not make: the server behind such a socket may identify users by
//! their account, and such a file may belong to any account. The load process raises its OOM score, so that the kernel
//! kills it before the server. If the load process is killed, only a trial fails. If the server is killed, its data is
//! lost.
//!
//! Every trial starts a load process. If the build host has glibc 2.36 or later, the binary's relocations are packed
//! (`build.rs`), which saves 1 MB per process. A binary with packed relocations does not start with an older glibc.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use dyno_host::{Account, be_killed_first, gain_no_rights};
use dyno_load::{Address, Job};

/// Run the job on standard input, and write its progress to standard output
#[derive(Debug, Args)]
#[command(after_help = "Example:
  dyno drive < job.json")]
pub(crate) struct Drive {}

impl Drive {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let Self {} = self;
        drive()
    }
}

/// Runs the job. If the job fails, the command writes a frame about it and returns no error.
pub(crate) fn drive() -> anyhow::Result<ExitCode> {
    // From now on, the kernel kills this process before the server if memory runs out, because a killed server would
    // lose its data. Without procfs this call fails, and the kernel may choose either process.
    let _ = be_killed_first();
    dyno_load::drive_stdio(give_up_rights)?;
    Ok(ExitCode::SUCCESS)
}

/// Drops root's rights before the job's script runs, as far as the job permits.
fn give_up_rights(job: &Job) -> io::Result<()> {
    gain_no_rights()?;
    match Account::instead_of_root() {
        Some(account) if !needs_own_account(job, account) => {
            if files(job).all(|file| account.can_reach(file)) {
                account.assume()
            } else {
                account.assume_reading()
            }
        }
        _ => Ok(()),
    }
}

/// Whether the database requires this process's account. A server behind a socket that Dyno did not make may
/// identify users by their account. A database file that Dyno did not make may belong to any account.
fn needs_own_account(job: &Job, account: Account) -> bool {
    databases(job).any(|path| !path.parent().is_some_and(|folder| account.owns(folder)))
}

/// All files and folders that the job reads: scripts, TLS files, folders of sockets and databases, and traffic.
fn files(job: &Job) -> impl Iterator<Item = &Path> {
    let tls = &job.target.tls;
    let of_tls = [&tls.ca, &tls.cert, &tls.key].into_iter().flatten();
    let folders = databases(job).filter_map(Path::parent);
    let traffic = job.replay.iter().map(|replay| replay.file.as_path());
    job.script.search_path.iter().chain(of_tls).map(AsRef::as_ref).chain(folders).chain(traffic)
}

/// The sockets and database files that the job names.
fn databases(job: &Job) -> impl Iterator<Item = &Path> {
    job.target.addresses.iter().flat_map(Address::paths)
}

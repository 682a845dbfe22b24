//! `dyno run --on`: runs the rounds on several hosts.

use std::collections::hash_map::RandomState;
use std::env;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::{self, Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::{Context as _, bail};
use clap::Args;
use dyno_cluster::{Folder, RemoteDyno, Site, Slurm, SlurmOptions, Ssh, TaskCommand, conduct};
use dyno_lab::{Plan, Spread};

use super::{Run, options, present};
use crate::{interrupt, output};

/// Options that choose the hosts of the rounds.
#[derive(Debug, Args)]
pub(super) struct SpreadFlags {
    /// Run the rounds on several hosts: slurm, or ssh:HOST,HOST
    #[arg(long, value_name = "WHERE", help_heading = "Several hosts")]
    #[arg(conflicts_with_all = ["budget_seconds", "only_outline"])]
    pub(super) on: Option<On>,
    /// Largest number of nodes that run rounds at the same time
    #[arg(long, value_name = "N", help_heading = "Several hosts", requires = "on")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    nodes: Option<u32>,
    /// Slurm's partition
    #[arg(long, value_name = "NAME", help_heading = "Several hosts", requires = "on")]
    partition: Option<String>,
    /// Print what would be submitted, and exit
    #[arg(long, help_heading = "Several hosts", requires = "on", conflicts_with = "resume")]
    print: bool,
}

/// The hosts that run rounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum On {
    Slurm,
    Ssh(Vec<String>),
}

impl FromStr for On {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let hosts = match text {
            "slurm" => return Ok(Self::Slurm),
            _ => text.strip_prefix("ssh:").ok_or("must be slurm or ssh:HOST,HOST")?,
        };
        let hosts: Vec<String> = hosts.split(',').map(str::to_owned).collect();
        if let Some(host) = hosts.iter().find(|host| host.is_empty() || host.starts_with('-')) {
            return Err(format!("`{host}` is not a host; write ssh:HOST,HOST"));
        }
        match hosts.iter().enumerate().find(|(at, host)| hosts[..*at].contains(host)) {
            Some((_, host)) => Err(format!("{host} is named twice; a host runs one round at a time")),
            None => Ok(Self::Ssh(hosts)),
        }
    }
}

impl Run {
    /// Runs the plan's rounds on several hosts and prints the findings.
    pub(super) fn carry_out_on(&self, on: &On, plan: &Plan) -> anyhow::Result<ExitCode> {
        self.spread.check(on)?;
        Spread::check(plan)?;
        if plan.steps.iter().any(|step| !step.drivers.is_empty()) && !self.spread.is_one_at_a_time(on) {
            bail!(
                "the plan's drivers would load several hosts at the same time; name one host, or add --nodes 1"
            );
        }
        let stop = interrupt::stop_flag()?;
        let options = options(&self.flags, self.resume, &stop)?;
        let id = format!("{:016x}", RandomState::new().build_hasher().finish());
        if self.spread.print {
            let rounds: Vec<u32> = (0..plan.rounds_min()).collect();
            let task = self.task_command(&plan.files, id, options.seed)?;
            let folder = Folder::of(&self.flags.results.path, &task.spread_id);
            output::print_rendered(&self.spread.shown(on, self.flags.remote_dyno(), task, folder, &rounds))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut spread = Spread::begin(plan, &options, &id)?;
        let task = self.task_command(&plan.files, spread.spread_id().to_owned(), spread.seed())?;
        let folder = Folder::of(&self.flags.results.path, spread.spread_id());
        let mut site = self.spread.site(on, self.flags.remote_dyno(), task, folder.clone());
        let mut tell = |notice: &dyno_cluster::Notice| output::tell(&notice.to_string());
        let outcome = conduct(&mut spread, site.as_mut(), &folder, &stop, &mut tell)?;
        drop(spread);
        present(&outcome, &self.flags, &self.page, &[])
    }

    /// The command line that runs a round on another host, with all options that change the plan.
    fn task_command(&self, files: &[PathBuf], spread_id: String, seed: u64) -> anyhow::Result<TaskCommand> {
        let program = match &self.flags.remote_dyno {
            Some(path) => path.clone(),
            None => {
                env::current_exe().context("cannot find the program that is running")?.display().to_string()
            }
        };
        let plan = if Path::new(&self.plan).extension().is_some_and(|extension| extension == "toml") {
            path::absolute(&self.plan)?.display().to_string()
        } else {
            self.plan.clone()
        };
        let mut words: Vec<String> = Vec::new();
        let mut option = |name: &str, value: Option<String>| {
            words.extend(value.map(|value| format!("--{name}={value}")));
        };
        option("rounds", self.rounds.map(|rounds| rounds.to_string()));
        option("rerun-disturbed", self.rerun_disturbed.map(|times| times.to_string()));
        option("seconds", self.seconds.map(|seconds| seconds.to_string()));
        option("scale", self.scale.clone());
        self.only.iter().for_each(|pattern| option("only", Some(pattern.clone())));
        let clients: Vec<String> = self.clients.iter().map(u32::to_string).collect();
        option("clients", Some(clients.join(",")).filter(|list| !list.is_empty()));
        option("systems", Some(self.systems.join(",")).filter(|list| !list.is_empty()));
        option("remote-dyno", self.flags.remote_dyno.clone());
        if self.flags.strict {
            words.push("--strict".to_owned());
        }
        if self.flags.count_disturbed {
            words.push("--count-disturbed".to_owned());
        }
        let files = files.iter().map(path::absolute).collect::<Result<_, _>>()?;
        Ok(TaskCommand { program, plan, files, options: words, seed, spread_id })
    }
}

impl SpreadFlags {
    /// Returns an error if flags do not fit the kind of hosts.
    fn check(&self, on: &On) -> anyhow::Result<()> {
        match on {
            On::Ssh(_) if self.nodes.is_some() => bail!("--nodes is for slurm; name the hosts after ssh:"),
            On::Ssh(_) if self.partition.is_some() => bail!("--partition is for slurm"),
            _ => Ok(()),
        }
    }

    /// Whether rounds run one at a time.
    fn is_one_at_a_time(&self, on: &On) -> bool {
        match on {
            On::Ssh(hosts) => hosts.len() == 1,
            On::Slurm => self.nodes == Some(1),
        }
    }

    fn site(&self, on: &On, dyno: RemoteDyno, task: TaskCommand, folder: Folder) -> Box<dyn Site> {
        match on {
            On::Ssh(hosts) => Box::new(Ssh::new(folder, task, hosts.clone(), dyno)),
            On::Slurm => Box::new(self.slurm(task, folder)),
        }
    }

    fn slurm(&self, task: TaskCommand, folder: Folder) -> Slurm {
        Slurm::new(folder, task, SlurmOptions { nodes: self.nodes, partition: self.partition.clone() })
    }

    /// The text of `--print`: what would be submitted for these rounds.
    fn shown(&self, on: &On, dyno: RemoteDyno, task: TaskCommand, folder: Folder, rounds: &[u32]) -> String {
        match on {
            On::Slurm => self.slurm(task, folder).shown(rounds),
            On::Ssh(hosts) => {
                let ssh = Ssh::new(folder, task, hosts.clone(), dyno);
                rounds.first().map(|round| ssh.shown(*round)).unwrap_or_default()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named_once_and_no_host_looks_like_an_option() {
        assert_eq!("slurm".parse(), Ok(On::Slurm));
        assert_eq!("ssh:a,me@b".parse(), Ok(On::Ssh(vec!["a".to_owned(), "me@b".to_owned()])));
        let refused = |text: &str| text.parse::<On>().unwrap_err();
        assert!(refused("ssh:a,b,a").contains("a is named twice"));
        assert!(refused("ssh:-oProxyCommand=x").contains("is not a host"));
        assert!(refused("ssh:a,").contains("is not a host"));
        assert!(refused("pbs").contains("must be slurm"));
    }
}

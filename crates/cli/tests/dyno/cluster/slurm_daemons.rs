//! A real Slurm of two nodes on this machine, with separate settings and secrets.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::sshd::free_port;
use super::{descendants, kill, program};
use crate::bench::{Bench, eventually};

/// The daemons of a cluster with the nodes `n1` and `n2`.
pub(super) struct Cluster {
    munged: Child,
    controller: Option<Child>,
    nodes: Vec<Child>,
    config: PathBuf,
}

impl Cluster {
    pub(super) fn start(bench: &Bench) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root may start Slurm's daemons".to_owned());
        }
        let munged = program("munged", "munge")?;
        let controller = program("slurmctld", "slurmctld")?;
        let node = program("slurmd", "slurmd")?;
        program("sbatch", "slurm-client")?;
        let folder = bench.path("slurm");
        fs::create_dir(&folder).unwrap();
        let secret = folder.join("munge.key");
        fs::write(&secret, [7; 1024]).unwrap();
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o400)).unwrap();
        fs::write(folder.join("slurm.conf"), config(&folder)).unwrap();
        let in_folder = |option: &str, name: &str| format!("--{option}={}", folder.join(name).display());
        let munge_options = [
            "--foreground".to_owned(),
            "--force".to_owned(),
            in_folder("key-file", "munge.key"),
            in_folder("socket", "munge.socket"),
            in_folder("pid-file", "munge.pid"),
            in_folder("log-file", "munge.log"),
            in_folder("seed-file", "munge.seed"),
        ];
        let config = folder.join("slurm.conf");
        let of = |name: &str| {
            vec![
                "-D".to_owned(),
                "-f".to_owned(),
                config.display().to_string(),
                "-N".to_owned(),
                name.to_owned(),
            ]
        };
        let munged = daemon(&munged, &munge_options, &folder)?;
        // If another daemon cannot be started, dropping this value ends those that were started.
        let mut cluster = Self { munged, controller: None, nodes: Vec::new(), config: config.clone() };
        cluster.controller = Some(daemon(&controller, &of("")[..3], &folder)?);
        for name in ["n1", "n2"] {
            cluster.nodes.push(daemon(&node, &of(name), &folder)?);
        }
        eventually("both nodes are idle", || cluster.state("n1") == "idle" && cluster.state("n2") == "idle");
        Ok(cluster)
    }

    /// A `dyno` whose Slurm commands use this cluster.
    pub(super) fn dyno(&self, bench: &Bench, arguments: &[&str]) -> Command {
        let mut command = bench.command(arguments);
        command.env("SLURM_CONF", &self.config);
        command
    }

    /// The state of a node as Slurm reports it.
    pub(super) fn state(&self, node: &str) -> String {
        self.ask("sinfo", &["--noheader", "--format=%T", "--nodes", node])
    }

    /// The jobs in the queue.
    pub(super) fn queue(&self) -> String {
        self.ask("squeue", &["--noheader"])
    }

    pub(super) fn ask(&self, program: &str, arguments: &[&str]) -> String {
        let told = Command::new(program).args(arguments).env("SLURM_CONF", &self.config).output().unwrap();
        String::from_utf8_lossy(&told.stdout).trim().to_owned()
    }

    /// Kills the daemon of a node and all that runs there, like a power failure.
    pub(super) fn break_node(&mut self, bench: &Bench, name: &str) {
        let at = usize::from(name != "n1");
        // Each running task has a separate daemon, which is no longer a child of the node's daemon.
        let steps = || -> Vec<u32> {
            let tasks =
                bench.processes().into_iter().filter(|pid| environment_has(*pid, "SLURMD_NODENAME", name));
            tasks.filter_map(step_daemon).collect()
        };
        eventually("a task runs on the node", || !steps().is_empty());
        let steps = steps();
        let node = &mut self.nodes[at];
        let _ = node.kill();
        let _ = node.wait();
        for pid in steps {
            let below = descendants(pid);
            kill(pid);
            below.into_iter().for_each(kill);
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let steps = step_daemons(&self.config);
        for daemon in self.nodes.iter_mut().chain(&mut self.controller).chain([&mut self.munged]) {
            let below = descendants(daemon.id());
            let _ = daemon.kill();
            let _ = daemon.wait();
            below.into_iter().for_each(kill);
        }
        steps.into_iter().for_each(kill);
    }
}

fn config(folder: &Path) -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let host = host.trim().split('.').next().unwrap_or_default().to_owned();
    let [controller, first, second] = [free_port(), free_port(), free_port()];
    let here = folder.display();
    format!(
        "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={controller}\nSlurmUser=root\n\
         AuthType=auth/munge\nAuthInfo=socket={here}/munge.socket,cred_expire=5\nCredType=cred/munge\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/linear\n\
         JobCompType=jobcomp/none\nAccountingStorageType=accounting_storage/none\nJobAcctGatherType=jobacct_gather/none\n\
         StateSaveLocation={here}/state\nSlurmdSpoolDir={here}/spool-%n\nSlurmctldPidFile={here}/slurmctld.pid\n\
         SlurmdPidFile={here}/slurmd-%n.pid\nSlurmctldLogFile={here}/slurmctld.log\nSlurmdLogFile={here}/slurmd-%n.log\n\
         SlurmdTimeout=10\nReturnToService=2\nMpiDefault=none\nSchedulerParameters=sched_interval=5\n\
         NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs=1\n\
         NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs=1\n\
         PartitionName=bench Nodes=n1,n2 Default=YES OverSubscribe=EXCLUSIVE State=UP\n"
    )
}

fn daemon(program: &Path, arguments: &[String], folder: &Path) -> Result<Child, String> {
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let log = fs::OpenOptions::new().create(true).append(true).open(folder.join("daemons.log")).unwrap();
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .map_err(|error| format!("{name}: {error}"))
}

/// The `slurmstepd` that is an ancestor of a process. `None` if there is none.
fn step_daemon(pid: u32) -> Option<u32> {
    let mut at = pid;
    while let Some(parent) = super::parent_of(at).filter(|parent| *parent > 1) {
        if command_line(parent).contains("slurmstepd") {
            return Some(parent);
        }
        at = parent;
    }
    None
}

/// The step daemons whose tasks belong to the test with these settings.
fn step_daemons(config: &Path) -> Vec<u32> {
    let test = config.parent().and_then(Path::parent).unwrap_or(config).display().to_string();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| environment(*pid).contains(&test)).filter_map(step_daemon).collect()
}

fn command_line(pid: u32) -> String {
    String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()).into_owned()
}

fn environment(pid: u32) -> String {
    String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/environ")).unwrap_or_default()).into_owned()
}

fn environment_has(pid: u32, name: &str, value: &str) -> bool {
    environment(pid).split('\0').any(|entry| entry == format!("{name}={value}"))
}

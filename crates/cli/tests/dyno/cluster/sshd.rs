//! Real ssh daemons, on the loopback or in network namespaces, with separate keys and settings.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{descendants, kill, program};
use crate::bench::{Bench, eventually};

/// Where a host's daemon runs. `address` is the address on which it listens. `enter` is written before the daemon's
/// command, for example to run the daemon in a namespace.
pub(super) struct Place {
    pub(super) address: String,
    pub(super) enter: Vec<String>,
}

/// Two hosts with the names `a` and `b`, each with a daemon.
pub(super) struct Hosts {
    pub(super) a: Sshd,
    pub(super) b: Sshd,
    path: String,
}

pub(super) struct Sshd {
    child: Child,
}

impl Hosts {
    pub(super) fn start(bench: &Bench) -> Result<Self, String> {
        let loopback = || Place { address: "127.0.0.1".to_owned(), enter: Vec::new() };
        Self::start_at(bench, &[loopback(), loopback()])
    }

    pub(super) fn start_at(bench: &Bench, [place_a, place_b]: &[Place; 2]) -> Result<Self, String> {
        let sshd = program("sshd", "openssh-server")?;
        let ssh = program("ssh", "openssh-client")?;
        let keygen = program("ssh-keygen", "openssh-client")?;
        for name in ["host_key", "user_key"] {
            let made = Command::new(&keygen)
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(bench.path(name))
                .output()
                .map_err(|error| format!("ssh-keygen: {error}"))?;
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        }
        if rustix::process::geteuid().is_root() {
            // sshd isolates itself in this folder before a login.
            fs::create_dir_all("/run/sshd").map_err(|error| format!("/run/sshd: {error}"))?;
        }
        fs::create_dir(bench.path("home")).unwrap();
        let a = Sshd::start(bench, &sshd, "a", place_a)?;
        let b = Sshd::start(bench, &sshd, "b", place_b)?;
        let here = bench.path("");
        bench.write(
            "ssh_config",
            &format!(
                "Host a\n  HostName {}\n  Port {}\nHost b\n  HostName {}\n  Port {}\nHost *\n  IdentityFile {}\n  \
                 IdentitiesOnly yes\n  IdentityAgent none\n  UserKnownHostsFile /dev/null\n  StrictHostKeyChecking no\n  LogLevel ERROR\n",
                place_a.address,
                a.1,
                place_b.address,
                b.1,
                here.join("user_key").display(),
            ),
        );
        // Stands for the user's own configuration of ssh, which Dyno lets ssh read.
        fs::create_dir(bench.path("bin")).unwrap();
        let script =
            format!("#!/bin/sh\nexec {} -F {} \"$@\"\n", ssh.display(), here.join("ssh_config").display());
        bench.write("bin/ssh", &script);
        fs::set_permissions(bench.path("bin/ssh"), fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", bench.path("bin").display(), std::env::var("PATH").unwrap_or_default());
        let hosts = Self { a: a.0, b: b.0, path };
        let told = Command::new("ssh").args(["a", "true"]).env("PATH", &hosts.path).output().unwrap();
        if told.status.success() {
            return Ok(hosts);
        }
        Err(format!("sshd lets nobody in here: {}", String::from_utf8_lossy(&told.stderr).trim()))
    }

    /// A `dyno` whose `ssh` reaches these hosts.
    pub(super) fn dyno(&self, bench: &Bench, arguments: &[&str]) -> Command {
        let mut command = bench.command(arguments);
        command.env("PATH", &self.path);
        command
    }
}

impl Sshd {
    /// Starts a daemon. Returns it with its port.
    fn start(bench: &Bench, sshd: &Path, name: &str, place: &Place) -> Result<(Self, u16), String> {
        let here = bench.path("");
        let port = free_port();
        let settings = bench.command(&[]);
        let cache = settings.get_envs().find(|(key, _)| *key == "DYNO_CACHE").and_then(|(_, value)| value);
        // Logins use the home and the cache of this test.
        let config = format!(
            "ListenAddress {address}\nPort {port}\nHostKey {here}/host_key\nPidFile none\nUsePAM no\nStrictModes no\n\
             PermitRootLogin yes\nPasswordAuthentication no\nAuthorizedKeysFile {here}/user_key.pub\n\
             SetEnv HOME={here}/home DYNO_CACHE={cache} DYNO_TEST={test} XDG_RUNTIME_DIR={test}\n",
            address = place.address,
            here = here.display().to_string().trim_end_matches('/'),
            cache = cache.unwrap_or_default().display(),
            test = here.display().to_string().trim_end_matches('/'),
        );
        let file = format!("sshd_{name}");
        bench.write(&file, &config);
        let log = fs::File::create(bench.path(&format!("{file}.log"))).unwrap();
        let mut words = place.enter.iter().map(OsStr::new).chain([sshd.as_os_str()]);
        let child = Command::new(words.next().unwrap())
            .args(words)
            .args(["-D", "-e", "-f"])
            .arg(bench.path(&file))
            .stdin(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| format!("sshd: {error}"))?;
        let mut daemon = Self { child };
        let child = RefCell::new(&mut daemon.child);
        let has_ended = || child.borrow_mut().try_wait().unwrap().is_some();
        eventually("sshd listens", || {
            has_ended() || TcpStream::connect((place.address.as_str(), port)).is_ok()
        });
        if has_ended() {
            let log = fs::read_to_string(bench.path(&format!("{file}.log"))).unwrap();
            return Err(format!("sshd does not start here: {}", log.trim()));
        }
        Ok((daemon, port))
    }

    /// Cuts all connections and accepts no new ones. Programs that were started over them live on, as on a
    /// host that lost its network.
    pub(super) fn vanish(&mut self) {
        let is_sshd = |pid: &u32| {
            fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.starts_with("sshd"))
        };
        let connections: Vec<u32> = descendants(self.child.id()).into_iter().filter(is_sshd).collect();
        self.end();
        connections.into_iter().for_each(kill);
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.vanish();
    }
}

/// A free port. If another process takes it before sshd does, the test fails and says so.
pub(super) fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

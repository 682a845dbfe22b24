//! Hosts in network namespaces of this machine, each at the other end of a link.

use std::process::Command;

use super::program;
use super::sshd::{Hosts, Place};
use crate::bench::Bench;

/// The first three numbers of the addresses of both links. They are for tests of networks (RFC 2544).
const LINKS: [&str; 2] = ["198.18.77", "198.18.78"];

/// Two namespaces with a daemon each. Dropping it removes them.
pub(super) struct Namespaces {
    pub(super) hosts: Hosts,
    /// Declared after the hosts, which are in them.
    _links: [Link; 2],
}

/// A namespace and its link to this one.
struct Link {
    name: String,
}

impl Namespaces {
    /// The address of this host that both reach.
    pub(super) fn here() -> String {
        format!("{}.1", LINKS[0])
    }

    pub(super) fn start(bench: &Bench) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("network namespaces need root".to_owned());
        }
        program("ip", "iproute2")?;
        let links = [Link::make("a", LINKS[0])?, Link::make("b", LINKS[1])?];
        let place = |at: usize| Place {
            address: format!("{}.2", LINKS[at]),
            enter: ["ip", "netns", "exec", &links[at].name].map(str::to_owned).to_vec(),
        };
        let hosts = Hosts::start_at(bench, &[place(0), place(1)])?;
        Ok(Self { hosts, _links: links })
    }
}

impl Link {
    fn make(host: &str, network: &str) -> Result<Self, String> {
        // The name of a link has at most 15 letters.
        let link = Self { name: format!("dy{host}{}", std::process::id()) };
        let name = &link.name;
        ip(&format!("netns add {name}"))?;
        ip(&format!("link add {name} type veth peer name eth0 netns {name}"))?;
        ip(&format!("address add {network}.1/24 dev {name}"))?;
        ip(&format!("link set {name} up"))?;
        ip(&format!("-n {name} address add {network}.2/24 dev eth0"))?;
        ip(&format!("-n {name} link set eth0 up"))?;
        ip(&format!("-n {name} link set lo up"))?;
        ip(&format!("-n {name} route add default via {network}.1"))?;
        Ok(link)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The link goes with its end in the namespace.
        let _ = ip(&format!("netns delete {}", self.name));
        let _ = ip(&format!("link delete {}", self.name));
    }
}

fn ip(words: &str) -> Result<(), String> {
    let told = Command::new("ip").args(words.split(' ')).output().map_err(|error| format!("ip: {error}"))?;
    let said = String::from_utf8_lossy(&told.stderr);
    if told.status.success() { Ok(()) } else { Err(format!("ip {words}: {}", said.trim())) }
}

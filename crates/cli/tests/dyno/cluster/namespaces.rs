//! Hosts in network namespaces of this machine, each at the other end of a link.

use std::process::Command;
use std::sync::atomic::{AtomicU8, Ordering};

use super::program;
use super::sshd::{Hosts, Place};
use crate::bench::Bench;

/// The first two numbers of all addresses. The range is reserved for network tests (RFC 2544).
const NETWORK: &str = "198.18";
/// The third number of the next link's addresses. It differs between tests, because they run in parallel.
static NEXT: AtomicU8 = AtomicU8::new(1);

/// Two namespaces with a daemon each. Dropping the value removes them.
pub(super) struct Namespaces {
    pub(super) hosts: Hosts,
    /// The address of this host that both namespaces reach.
    pub(super) here: String,
    /// Dropped after the hosts, because the daemons of the hosts run in these namespaces.
    _links: [Link; 2],
}

/// A namespace, and its link to the namespace of this process.
struct Link {
    name: String,
    /// The first three numbers of the link's addresses.
    network: String,
}

impl Namespaces {
    pub(super) fn start(bench: &Bench) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("network namespaces need root".to_owned());
        }
        program("ip", "iproute2")?;
        let links = [Link::make()?, Link::make()?];
        let place = |link: &Link| Place {
            address: format!("{}.2", link.network),
            enter: ["ip", "netns", "exec", &link.name].map(str::to_owned).to_vec(),
        };
        let hosts = Hosts::start_at(bench, &links.each_ref().map(place))?;
        Ok(Self { hosts, here: format!("{}.1", links[0].network), _links: links })
    }
}

impl Link {
    fn make() -> Result<Self, String> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // The name of a network interface has at most 15 letters.
        let link = Self {
            name: format!("dyno{number}-{}", std::process::id()),
            network: format!("{NETWORK}.{number}"),
        };
        let Self { name, network } = &link;
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
        // Deleting the namespace also deletes the link.
        let _ = ip(&format!("netns delete {}", self.name));
        let _ = ip(&format!("link delete {}", self.name));
    }
}

fn ip(words: &str) -> Result<(), String> {
    let told = Command::new("ip").args(words.split(' ')).output().map_err(|error| format!("ip: {error}"))?;
    let said = String::from_utf8_lossy(&told.stderr);
    if told.status.success() { Ok(()) } else { Err(format!("ip {words}: {}", said.trim())) }
}

//! Addresses for tests of what is sent over a network.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};

use super::is_set;

/// Some host elsewhere (RFC 5737), to which nothing is sent.
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 1);

/// An address of this host that other hosts could have: the one that packets to elsewhere come from. None if there is no network.
///
/// # Panics
/// There is none, and with `DYNO_REQUIRE_ENGINES=1` every test must run.
pub fn own_address() -> Option<Ipv4Addr> {
    let address = towards(ELSEWHERE);
    let none = "this host has no address but the loopback interface's";
    assert!(address.is_some() || !is_set("DYNO_REQUIRE_ENGINES"), "{none}");
    if address.is_none() {
        eprintln!("not run: {none}");
    }
    address
}

fn towards(host: Ipv4Addr) -> Option<Ipv4Addr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((host, 9)).ok()?;
    match socket.local_addr().ok()?.ip() {
        IpAddr::V4(address) if !address.is_loopback() => Some(address),
        _ => None,
    }
}

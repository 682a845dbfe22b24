//! Addresses for tests that need a network.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};

use super::is_set;

/// An address of another host (RFC 5737). Nothing is sent to it.
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 1);

/// Returns the address at which other hosts reach this host: the source address of packets to other hosts. Returns
/// `None` without a network.
///
/// # Panics
/// There is no network, and `DYNO_REQUIRE_ENGINES=1` requires every test to run.
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

//! Addresses for tests of what is sent over a network.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};

/// Some host elsewhere (RFC 5737), to which nothing is sent.
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 1);

/// An address of this host that other hosts could have: the one that packets to elsewhere come from. None if there is no network.
pub fn own_address() -> Option<Ipv4Addr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((ELSEWHERE, 9)).ok()?;
    match socket.local_addr().ok()?.ip() {
        IpAddr::V4(address) if !address.is_loopback() => Some(address),
        _ => None,
    }
}

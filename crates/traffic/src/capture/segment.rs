//! The TCP segment of a packet.

use std::net::SocketAddr;

use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TcpSlice, TransportSlice, ip_number};

use super::packets::Packet;

/// Link types (<https://www.tcpdump.org/linktypes.html>).
mod link {
    pub(super) const NULL: i32 = 0;
    pub(super) const ETHERNET: i32 = 1;
    /// Raw IP, with the numbers that OpenBSD and some tools write.
    pub(super) const RAW_OF_BSD: [i32; 2] = [12, 14];
    pub(super) const RAW: i32 = 101;
    pub(super) const LOOP: i32 = 108;
    pub(super) const LINUX_SLL: i32 = 113;
    pub(super) const IPV4: i32 = 228;
    pub(super) const IPV6: i32 = 229;
    pub(super) const LINUX_SLL2: i32 = 276;
}

/// A segment of a TCP connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment<'a> {
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
    pub(super) sequence: u32,
    pub(super) acknowledged: Option<u32>,
    pub(super) is_syn: bool,
    pub(super) is_fin: bool,
    pub(super) is_reset: bool,
    pub(super) payload: &'a [u8],
    /// Number of bytes at the end of the payload that the snap length has cut off.
    pub(super) missing_bytes: usize,
}

/// What a packet contains.
pub(super) enum Content<'a> {
    Segment(Segment<'a>),
    /// The snap length has cut the packet off before the end of its TCP header.
    Truncated,
    /// The packet is not TCP, or is a fragment.
    Other,
}

/// The content of a packet.
pub(super) fn content<'a>(packet: &Packet<'a>) -> Content<'a> {
    let missing_bytes = packet.original_bytes.saturating_sub(packet.bytes.len());
    let Some((kind, rest)) = network(packet) else { return Content::Other };
    let sliced = LaxSlicedPacket::from_ether_type(kind, rest);
    let (Some(net), Some(ether)) = (&sliced.net, sliced.ether_payload()) else { return Content::Other };
    let (from, to, declared_bytes, protocol) = match net {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let length = Some(usize::from(header.total_len())).filter(|length| *length > 0);
            (header.source_addr().into(), header.destination_addr().into(), length, ip.payload_ip_number())
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let length = Some(usize::from(header.payload_length())).filter(|length| *length > 0);
            let protocol = ip.payload().ip_number;
            let length = length.map(|length| length + header.slice().len());
            (header.source_addr().into(), header.destination_addr().into(), length, protocol)
        }
        LaxNetSlice::Arp(_) => return Content::Other,
    };
    let Some(TransportSlice::Tcp(tcp)) = &sliced.transport else {
        let is_cut = protocol == ip_number::TCP && missing_bytes > 0;
        return if is_cut { Content::Truncated } else { Content::Other };
    };
    // The length in the header may be 0, if the network card computes it (offload).
    let missing_bytes =
        declared_bytes.map_or(missing_bytes, |bytes| bytes.saturating_sub(ether.payload.len()));
    Content::Segment(segment(tcp, SocketAddr::new(from, tcp.source_port()), to, missing_bytes))
}

fn segment<'a>(
    tcp: &TcpSlice<'a>,
    from: SocketAddr,
    to: std::net::IpAddr,
    missing_bytes: usize,
) -> Segment<'a> {
    Segment {
        from,
        to: SocketAddr::new(to, tcp.destination_port()),
        sequence: tcp.sequence_number(),
        acknowledged: tcp.ack().then(|| tcp.acknowledgment_number()),
        is_syn: tcp.syn(),
        is_fin: tcp.fin(),
        is_reset: tcp.rst(),
        payload: tcp.payload(),
        missing_bytes,
    }
}

/// The bytes after the first header of a packet, with their `EtherType`.
fn network<'a>(packet: &Packet<'a>) -> Option<(EtherType, &'a [u8])> {
    let bytes = packet.bytes;
    let typed = |at: usize, header_bytes: usize| {
        let kind = bytes.get(at..at + 2)?;
        Some((EtherType(u16::from_be_bytes([kind[0], kind[1]])), bytes.get(header_bytes..)?))
    };
    match packet.link {
        link::ETHERNET => typed(12, 14),
        link::LINUX_SLL => typed(14, 16),
        link::LINUX_SLL2 => typed(0, 20),
        // The address family is skipped, because its byte order is the host's, and its numbers differ between
        // systems.
        link::NULL | link::LOOP => raw(bytes.get(4..)?),
        link::RAW | link::IPV4 | link::IPV6 => raw(bytes),
        number if link::RAW_OF_BSD.contains(&number) => raw(bytes),
        _ => None,
    }
}

/// The `EtherType` of an IP packet, from its version.
fn raw(bytes: &[u8]) -> Option<(EtherType, &[u8])> {
    match bytes.first()? >> 4 {
        4 => Some((EtherType::IPV4, bytes)),
        6 => Some((EtherType::IPV6, bytes)),
        _ => None,
    }
}

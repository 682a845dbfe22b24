//! Divides the bytes of one direction into packets ("MySQL Packets" in MySQL's source documentation).

use crate::capture::bytes::Bytes;

/// Length of a packet's payload if another packet continues it.
const FULL_BYTES: usize = 0xFF_FFFF;
/// Largest size of a payload buffer that is kept to be used again, in bytes.
const KEPT_BYTES: usize = 64 << 10;

/// A packet. Packets that continue each other are joined into one.
#[derive(Debug, Default)]
pub(super) struct Packet {
    /// The sequence number of the first packet.
    pub(super) sequence: u8,
    /// The sequence number of the last packet.
    pub(super) last_sequence: u8,
    /// The payload, up to a limit.
    pub(super) payload: Vec<u8>,
    /// Length of the whole payload.
    pub(super) bytes: u64,
}

impl Packet {
    pub(super) fn is_cut(&self) -> bool {
        self.bytes > self.payload.len() as u64
    }
}

/// Divides a stream of bytes.
#[derive(Debug, Default)]
pub(super) struct Frames {
    head: [u8; 4],
    head_bytes: usize,
    /// Number of bytes of the current frame that have not arrived yet.
    left: usize,
    is_last: bool,
    /// Whether the current frame continues the packet of the previous frame.
    continues: bool,
    limit: usize,
    packet: Packet,
}

impl Frames {
    /// Returns the next packet; `None` if more bytes are needed. `limit` gets the packet's first sequence number,
    /// and returns how many bytes of the packet to keep.
    pub(super) fn next(&mut self, bytes: &mut Bytes<'_>, limit: impl Fn(u8) -> usize) -> Option<Packet> {
        loop {
            if self.head_bytes < 4 && !self.begin(bytes, &limit) {
                return None;
            }
            let come = self.left.min(bytes.0.len());
            let come = bytes.take(come).unwrap_or_default();
            let kept = come.len().min(self.limit.saturating_sub(self.packet.payload.len()));
            self.packet.payload.extend_from_slice(&come[..kept]);
            self.packet.bytes += come.len() as u64;
            self.left -= come.len();
            if self.left > 0 {
                return None;
            }
            self.head_bytes = 0;
            self.continues = !self.is_last;
            if self.is_last {
                return Some(std::mem::take(&mut self.packet));
            }
        }
    }

    /// Reads the header of a frame. Returns whether the header is complete.
    fn begin(&mut self, bytes: &mut Bytes<'_>, limit: &impl Fn(u8) -> usize) -> bool {
        let come = bytes.take(bytes.0.len().min(4 - self.head_bytes)).unwrap_or_default();
        self.head[self.head_bytes..self.head_bytes + come.len()].copy_from_slice(come);
        self.head_bytes += come.len();
        if self.head_bytes < 4 {
            return false;
        }
        let [a, b, c, sequence] = self.head;
        self.left = u32::from_le_bytes([a, b, c, 0]) as usize;
        self.is_last = self.left < FULL_BYTES;
        self.packet.last_sequence = sequence;
        if !self.continues {
            self.limit = limit(sequence);
            self.packet.sequence = sequence;
        }
        true
    }

    /// Takes back the buffer of a packet, to use it again.
    pub(super) fn reuse(&mut self, mut payload: Vec<u8>) {
        if payload.capacity() <= KEPT_BYTES && self.packet.payload.capacity() == 0 {
            payload.clear();
            self.packet.payload = payload;
        }
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.packet.payload.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
        let mut packet = (payload.len() as u32).to_le_bytes();
        packet[3] = sequence;
        [&packet, payload].concat()
    }

    #[test]
    fn packets_are_found_in_any_pieces() {
        let stream =
            [packet(0, b"abc"), packet(1, b""), packet(2, &vec![7; FULL_BYTES]), packet(3, b"de")].concat();
        for piece_bytes in [1, 3, 1000, stream.len()] {
            let mut frames = Frames::default();
            let mut found = Vec::new();
            for piece in stream.chunks(piece_bytes) {
                let mut bytes = Bytes(piece);
                while let Some(packet) = frames.next(&mut bytes, |_| 2) {
                    found.push((packet.sequence, packet.last_sequence, packet.bytes, packet.payload));
                }
            }
            let expected =
                [(0, 0, 3, b"ab".to_vec()), (1, 1, 0, Vec::new()), (2, 3, FULL_BYTES as u64 + 2, vec![7, 7])];
            assert_eq!(found, expected);
        }
    }
}

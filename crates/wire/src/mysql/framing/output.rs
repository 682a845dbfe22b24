//! Packets to the server.

use crate::mysql::framing::packets::{FULL_FRAME_BYTES, HEADER_BYTES};
use crate::outbox::Outbox;

/// Queues a packet whose first frame has the number `sequence`. Returns the next sequence number.
pub(in crate::mysql) fn packet(output: &mut Outbox, sequence: u8, write: impl FnOnce(&mut Vec<u8>)) -> u8 {
    let bytes = output.end();
    let header_at = bytes.len();
    bytes.extend_from_slice(&[0; HEADER_BYTES]);
    write(bytes);
    let payload_bytes = bytes.len() - header_at - HEADER_BYTES;
    if payload_bytes >= FULL_FRAME_BYTES {
        return split(bytes, header_at, sequence);
    }
    if let Some(place) = bytes.get_mut(header_at..).and_then(|packet| packet.first_chunk_mut()) {
        *place = header(payload_bytes, sequence);
    }
    sequence.wrapping_add(1)
}

/// Splits the packet that begins at `header_at` into frames. The last frame is shorter than the maximum.
fn split(bytes: &mut Vec<u8>, header_at: usize, mut sequence: u8) -> u8 {
    let payload = bytes.split_off(header_at + HEADER_BYTES);
    bytes.truncate(header_at);
    let full = payload.chunks_exact(FULL_FRAME_BYTES);
    let last = full.remainder();
    for frame in full.chain([last]) {
        bytes.extend_from_slice(&header(frame.len(), sequence));
        bytes.extend_from_slice(frame);
        sequence = sequence.wrapping_add(1);
    }
    sequence
}

fn header(payload_bytes: usize, sequence: u8) -> [u8; HEADER_BYTES] {
    let [low, middle, high, _] = (payload_bytes as u32).to_le_bytes();
    [low, middle, high, sequence]
}

/// Writes a length-encoded integer.
pub(in crate::mysql) fn write_lenenc(bytes: &mut Vec<u8>, number: u64) {
    let le = number.to_le_bytes();
    let (marker, width) = match number {
        0..=0xFA => return bytes.push(number as u8),
        0xFB..=0xFFFF => (0xFC, 2),
        0x1_0000..=0xFF_FFFF => (0xFD, 3),
        _ => (0xFE, 8),
    };
    bytes.push(marker);
    bytes.extend(le.into_iter().take(width));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mysql::framing::reader::Reader;

    fn frames(payload_bytes: usize) -> (Vec<(usize, u8)>, u8) {
        let mut output = Outbox::default();
        let next = packet(&mut output, 0, |bytes| bytes.resize(bytes.len() + payload_bytes, b'x'));
        let mut frames = Vec::new();
        let mut rest = output.pending();
        while let [low, middle, high, sequence, tail @ ..] = rest {
            let length = u32::from_le_bytes([*low, *middle, *high, 0]) as usize;
            frames.push((length, *sequence));
            rest = &tail[length..];
        }
        (frames, next)
    }

    #[test]
    fn packets_are_cut_at_16_mb() {
        assert_eq!(frames(5), (vec![(5, 0)], 1));
        assert_eq!(frames(FULL_FRAME_BYTES - 1), (vec![(FULL_FRAME_BYTES - 1, 0)], 1));
        assert_eq!(frames(FULL_FRAME_BYTES), (vec![(FULL_FRAME_BYTES, 0), (0, 1)], 2));
        assert_eq!(frames(FULL_FRAME_BYTES + 7), (vec![(FULL_FRAME_BYTES, 0), (7, 1)], 2));
    }

    #[test]
    fn length_encoded_integers_read_back() {
        for number in [0, 250, 251, 0xFFFF, 0x1_0000, 0xFF_FFFF, 0x100_0000, u64::MAX] {
            let mut bytes = Vec::new();
            write_lenenc(&mut bytes, number);
            let mut reader = Reader::new(&bytes);
            assert_eq!(reader.lenenc(), Some(number));
            assert!(reader.rest().is_empty());
        }
    }
}

//! FNV-1a of 64 bits (RFC 9923). The hash is the same in every version of Dyno. It is no protection against
//! deliberate collisions.

/// The hash of an empty input.
pub(crate) const BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// Adds bytes to a hash.
pub(crate) fn fnv_1a(hash: u64, bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_vectors_hold() {
        for (text, hash) in [("", BASIS), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)] {
            assert_eq!(fnv_1a(BASIS, text.bytes()), hash, "{text}");
        }
    }
}

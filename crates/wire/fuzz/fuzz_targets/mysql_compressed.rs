//! A MySQL server that says anything in compressed frames: some that hold, some that do not.

#![no_main]

use dyno_wire::Client as _;
use dyno_wire::Login;
use dyno_wire::mysql::{Compressed, Compression};
use dyno_wire_fuzz::{WELCOME, drive};
use libfuzzer_sys::fuzz_target;

/// Whether the frames are zstd's, then chunks, each with what makes a frame of it: none leaves it as it is, a length
/// is what the payload is said to hold (0: it is not packed).
type Input<'a> = (bool, Vec<(Option<u16>, &'a [u8])>);

fuzz_target!(|input: Input<'_>| {
    let (zstd, chunks) = input;
    let login = Login { user: "fuzz".into(), password: "fuzz".into(), ..Login::default() };
    let mut client = Compressed::new(login, Compression { zlib: !zstd, zstd, uncompressed: false });
    client.receive(WELCOME);
    let chunks: Vec<Vec<u8>> = chunks
        .into_iter()
        .map(|(plain_bytes, bytes)| plain_bytes.map_or_else(|| bytes.to_vec(), |plain| frame(plain, bytes)))
        .collect();
    // The login ends with the first call of `advance`, and what comes after is taken for frames.
    let chunks: Vec<&[u8]> = std::iter::once(&[][..]).chain(chunks.iter().map(Vec::as_slice)).collect();
    drive(&mut client, &chunks);
});

fn frame(plain_bytes: u16, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_le_bytes();
    let plain = u32::from(plain_bytes).to_le_bytes();
    [&length[..3], &[0], &plain[..3], payload].concat()
}

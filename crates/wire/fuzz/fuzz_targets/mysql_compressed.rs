//! A MySQL server that sends arbitrary bytes in compressed frames, valid and invalid.

#![no_main]

use dyno_wire::Client as _;
use dyno_wire::Login;
use dyno_wire::mysql::{Compressed, Compression};
use dyno_wire_fuzz::{WELCOME, drive};
use libfuzzer_sys::fuzz_target;

/// Whether the frames use zstd, then the chunks. A chunk without a length is sent unframed. A chunk with a length is
/// framed, and the length is the uncompressed length in the header (0: not compressed).
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
    // The first call of `advance` ends the login. All bytes after it are read as frames.
    let chunks: Vec<&[u8]> = std::iter::once(&[][..]).chain(chunks.iter().map(Vec::as_slice)).collect();
    drive(&mut client, &chunks);
});

fn frame(plain_bytes: u16, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_le_bytes();
    let plain = u32::from(plain_bytes).to_le_bytes();
    [&length[..3], &[0], &plain[..3], payload].concat()
}

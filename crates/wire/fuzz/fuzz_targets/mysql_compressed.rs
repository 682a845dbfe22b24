//! A MySQL server that says anything in compressed frames: some that hold, some that do not.

#![no_main]

use dyno_wire::Client as _;
use dyno_wire::Login;
use dyno_wire::mysql::Compressed;
use dyno_wire_fuzz::{WELCOME, drive};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: Vec<(bool, &[u8])>| {
    let mut client =
        Compressed::new(Login { user: "fuzz".into(), password: "fuzz".into(), ..Login::default() });
    client.receive(WELCOME);
    let chunks: Vec<Vec<u8>> =
        input.iter().map(|&(framed, bytes)| if framed { frame(bytes) } else { bytes.to_vec() }).collect();
    // The login ends with the first call of `advance`, and what comes after is taken for frames.
    let chunks: Vec<&[u8]> = std::iter::once(&[][..]).chain(chunks.iter().map(Vec::as_slice)).collect();
    drive(&mut client, &chunks);
});

/// A whole frame whose payload is not deflated.
fn frame(payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_le_bytes();
    [&length[..3], &[0, 0, 0, 0], payload].concat()
}

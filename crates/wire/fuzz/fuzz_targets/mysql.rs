//! A MySQL server that says anything, from the first byte on or once it has let the client in.

#![no_main]

use dyno_wire::mysql::Connection;
use dyno_wire::{Client as _, Login, TlsMode};
use dyno_wire_fuzz::drive;
use libfuzzer_sys::fuzz_target;

/// A greeting with every capability, and the OK packet behind the client's introduction.
const WELCOME: &[u8] =
    b"\x36\0\0\0\x0A8\0\x01\0\0\0abcdefgh\0\xFF\xFF\x2D\x02\0\xFF\xFF\x15\0\0\0\0\0\0\0\0\0\0\
    ijklmnopqrst\0native\0\x07\0\0\x02\0\0\0\x02\0\0\0";

/// What differs from the full set of capabilities in a server that ends columns and rows with EOF packets.
const CAPABILITIES_HIGH_BYTE: usize = 26;

fuzz_target!(|input: (bool, bool, bool, Vec<&[u8]>)| {
    let (tls, logged_in, eof_packets, chunks) = input;
    let tls = if tls && !logged_in { TlsMode::Preferred } else { TlsMode::Disabled };
    let mut client =
        Connection::new(Login { user: "fuzz".into(), password: "fuzz".into(), tls, ..Login::default() });
    if logged_in {
        let mut welcome = WELCOME.to_vec();
        if eof_packets {
            welcome[CAPABILITIES_HIGH_BYTE] = 0;
        }
        client.receive(&welcome);
    }
    drive(&mut client, &chunks);
});

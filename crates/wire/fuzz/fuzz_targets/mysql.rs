//! A MySQL server that sends arbitrary bytes, either from the first byte or after the login.

#![no_main]

use dyno_wire::mysql::Connection;
use dyno_wire::{Client as _, Login, TlsMode};
use dyno_wire_fuzz::{WELCOME, drive};
use libfuzzer_sys::fuzz_target;

/// Position of the capability byte that differs in a server that ends columns and rows with EOF packets.
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

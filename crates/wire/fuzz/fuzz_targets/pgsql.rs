//! A PostgreSQL server that sends arbitrary bytes, either from the first byte or after the login.

#![no_main]

use dyno_wire::pgsql::Connection;
use dyno_wire::{Client as _, Login, TlsMode};
use dyno_wire_fuzz::drive;
use libfuzzer_sys::fuzz_target;

const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";

fuzz_target!(|input: (bool, bool, Vec<&[u8]>)| {
    let (tls, logged_in, chunks) = input;
    let tls = if tls && !logged_in { TlsMode::Preferred } else { TlsMode::Disabled };
    let mut client =
        Connection::new(Login { user: "fuzz".into(), password: "fuzz".into(), tls, ..Login::default() });
    if logged_in {
        client.receive(WELCOME);
    }
    drive(&mut client, &chunks);
});

//! Runs a client against a server whose bytes come from the fuzzer.

use dyno_wire::{Client, Event, StatementId, Value};

/// A MySQL server's handshake packet with every capability, then the OK packet that ends the login.
pub const WELCOME: &[u8] =
    b"\x36\0\0\0\x0A8\0\x01\0\0\0abcdefgh\0\xFF\xFF\x2D\x02\0\xFF\xFF\x15\0\0\0\0\0\0\0\0\0\0\
    ijklmnopqrst\0native\0\x07\0\0\x02\0\0\0\x02\0\0\0";

/// Feeds a client chunk by chunk. At every event it does what a caller does next: it reads all rows, requests the next
/// result, or starts another kind of command. Ends when the client returns an error.
pub fn drive(client: &mut impl Client, chunks: &[&[u8]]) {
    let mut commands = 0;
    let mut statement = 0;
    for chunk in chunks {
        client.receive(chunk);
        loop {
            client.consume_output(client.output().len());
            match client.advance() {
                Err(_) => return,
                Ok(Event::NeedInput) => break,
                Ok(Event::StartTls) => client.tls_established(),
                Ok(Event::Done(summary)) if summary.more => {
                    read(client);
                    client.next_result();
                }
                Ok(event) => {
                    if let Event::Prepared(id) = event {
                        statement = id;
                    }
                    read(client);
                    start(client, commands, statement);
                    commands += 1;
                }
            }
        }
    }
}

fn read(client: &mut impl Client) {
    client.field_names();
    client.server_version();
    let mut fields = Vec::new();
    while client.next_row(&mut fields) {}
}

fn start(client: &mut impl Client, command: u32, statement: StatementId) {
    match command % 4 {
        0 => client.prepare(b"SELECT c FROM t WHERE id = ?"),
        1 => client.execute(statement, &[Value::Int(1)]),
        2 => client.query(b"SELECT 1; SELECT 2"),
        _ => {
            client.close_statement(statement);
            client.query(b"");
        }
    }
}

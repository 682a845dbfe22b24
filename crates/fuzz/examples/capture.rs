//! Records what a server sends to a client, for the fuzzing corpus.
//!
//! ```console
//! $ dyno engine start mariadb@10.11
//! $ cargo run -p dyno-fuzz --example capture -- mysql SOCKET USER PASSWORD crates/fuzz/corpus/mariadb-10.11
//! ```
//!
//! The first argument is the protocol: `mysql`, `mysql-zlib`, `mysql-zstd` or `pgsql`.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::{env, fs};

use dyno_fuzz::COMMANDS;
use dyno_wire::mysql::{self, Compressed, Compression};
use dyno_wire::{Client, Event, Login, pgsql};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [protocol, socket, user, password, out] = &arguments[..] else {
        return Err("give PROTOCOL SOCKET USER PASSWORD OUT".into());
    };
    let login = Login { user: user.clone(), password: password.clone(), local: true, ..Login::default() };
    let zlib = Compression { zlib: true, zstd: false, uncompressed: false };
    match protocol.as_str() {
        "mysql" => capture(mysql::Connection::new(login), socket, out),
        "mysql-zlib" => capture(Compressed::new(login, zlib), socket, out),
        "mysql-zstd" => {
            capture(Compressed::new(login, Compression { zlib: false, zstd: true, ..zlib }), socket, out)
        }
        "pgsql" => {
            capture(pgsql::Connection::new(Login { database: "postgres".to_owned(), ..login }), socket, out)
        }
        _ => Err("no such protocol".into()),
    }
}

fn capture(mut client: impl Client, socket: &str, out: &str) -> Outcome<()> {
    let mut stream = UnixStream::connect(socket)?;
    let (login, event) = said(&mut client, &mut stream)?;
    assert_eq!(event, Event::Ready, "the server does not let the client in");
    let mut answers = Vec::new();
    let mut statement = 0;
    for command in COMMANDS {
        command.ask(&mut client, statement);
        loop {
            let (bytes, event) = said(&mut client, &mut stream)?;
            answers.extend(bytes);
            match event {
                Event::Done(summary) if summary.more => client.next_result(),
                Event::Prepared(id) => {
                    statement = id;
                    break;
                }
                _ => break,
            }
        }
    }
    fs::write(format!("{out}.login"), login)?;
    fs::write(format!("{out}.answers"), answers)?;
    Ok(())
}

/// Reads from the server until the client reports an event. Returns the bytes that were read, and the event.
fn said(client: &mut impl Client, stream: &mut UnixStream) -> Outcome<(Vec<u8>, Event)> {
    let mut said = Vec::new();
    loop {
        let event = client.advance()?;
        stream.write_all(client.output())?;
        client.consume_output(client.output().len());
        match event {
            Event::NeedInput => {
                let mut bytes = [0; 16384];
                let count = stream.read(&mut bytes)?;
                if count == 0 {
                    return Err("the server hung up".into());
                }
                said.extend_from_slice(&bytes[..count]);
                client.receive(&bytes[..count]);
            }
            event => return Ok((said, event)),
        }
    }
}

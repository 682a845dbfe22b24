//! A slow network: a relay of TCP connections that delays data.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

/// On average, one piece of data in this many is late, as if it was lost: it arrives only after the time in which
/// TCP would send it again.
const LOST_ONE_IN: usize = 200;
const RESENT_AFTER: Duration = Duration::from_millis(200);

/// Relays connections from an address of this host to a port of the loopback, with a delay each way. Returns the
/// port at that address. The relay ends with the process.
pub(super) fn relay(address: &str, to: u16, delay: Duration) -> u16 {
    let listener = TcpListener::bind((address, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { continue };
            for stream in [&client, &server] {
                stream.set_nodelay(true).unwrap();
            }
            pass_on(client.try_clone().unwrap(), server.try_clone().unwrap(), delay);
            pass_on(server, client, delay);
        }
    });
    port
}

/// Passes pieces of data on in order, each at its due time. While a piece waits for its time, further pieces are read.
fn pass_on(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let (sender, pieces) = channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        for number in 1_usize.. {
            let Ok(bytes @ 1..) = from.read(&mut buffer) else { return };
            let lost = if number.is_multiple_of(LOST_ONE_IN) { RESENT_AFTER } else { Duration::ZERO };
            if sender.send((Instant::now() + delay + lost, buffer[..bytes].to_vec())).is_err() {
                return;
            }
        }
    });
    thread::spawn(move || {
        for (at, piece) in pieces {
            thread::sleep(at.saturating_duration_since(Instant::now()));
            if to.write_all(&piece).is_err() {
                return;
            }
        }
        // The other side may have closed the connection already.
        let _ = to.shutdown(Shutdown::Write);
    });
}

//! A server of canned answers behind a unix socket, on threads of its own.

use std::collections::HashMap;
use std::io;
use std::net::Shutdown;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;

use socket2::{Domain, SockAddr, Socket, Type};

use super::canned::Canned;
use crate::io::{Epoll, Io, IoEvent, Token, Waker};
use crate::protocol::job::Protocol;

/// Largest number of connections that wait to be accepted.
const BACKLOG: i32 = 4096;

/// A running server. It ends when it is dropped.
pub struct CannedServer {
    listener: Arc<Socket>,
}

impl CannedServer {
    /// Starts a server that speaks `protocol` and listens at `path`, where no file exists yet.
    ///
    /// # Errors
    /// The operating system refuses the socket.
    pub fn start(protocol: Protocol, path: &Path) -> io::Result<Self> {
        let listener = Arc::new(listen(path)?);
        let io = Epoll::new()?;
        let (waker, (sender, accepted)) = (io.waker(), channel());
        let listens = Arc::clone(&listener);
        thread::spawn(move || accept(&listens, sender, &waker));
        thread::spawn(move || serve(protocol, io, &accepted));
        Ok(Self { listener })
    }
}

impl Drop for CannedServer {
    fn drop(&mut self) {
        // This ends `accept`, and the end of `accept` ends `serve`.
        let _ = self.listener.shutdown(Shutdown::Both);
    }
}

/// Opens a unix socket that listens at `path`.
pub(super) fn listen(path: &Path) -> io::Result<Socket> {
    let listener = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    listener.bind(&SockAddr::unix(path)?)?;
    listener.listen(BACKLOG)?;
    Ok(listener)
}

fn accept(listener: &Socket, sender: Sender<Socket>, waker: &Waker) {
    while let Ok((socket, _)) = listener.accept() {
        if socket.set_nonblocking(true).is_err() || sender.send(socket).is_err() {
            break;
        }
        waker.wake();
    }
    drop(sender);
    waker.wake();
}

/// Answers all connections, until the listener is closed.
fn serve(protocol: Protocol, mut io: Epoll, accepted: &Receiver<Socket>) {
    let mut servers: HashMap<Token, Canned> = HashMap::new();
    let mut answer = Vec::new();
    loop {
        match accepted.try_recv() {
            Ok(socket) => {
                answer.clear();
                let server = Canned::open(protocol, &mut answer);
                let Ok(token) = io.add(socket, false) else { continue };
                servers.insert(token, server);
                io.send(token, &answer);
                continue;
            }
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return,
        }
        if io.wait(None).is_err() {
            return;
        }
        while let Some(event) = io.next() {
            match event {
                IoEvent::Received(token) => {
                    let Some(server) = servers.get_mut(&token) else { continue };
                    answer.clear();
                    server.hear(io.bytes(), &mut answer);
                    io.send(token, &answer);
                }
                IoEvent::Closed(token, _) => {
                    servers.remove(&token);
                    io.remove(token);
                }
                IoEvent::Connected(_) => {}
            }
        }
    }
}

//! The server: a thread for each connection, which reads and writes, and one thread that makes the pages.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use dyno_store::{RunId, Store, StoreError};

use crate::access::{Access, Decision, is_plain};
use crate::events;
use crate::http::{self, Answer, Request};
use crate::pages::{Pages, Render};

/// How often the server looks whether it should stop.
const PATIENCE: Duration = Duration::from_millis(200);
/// Connections at a time, listeners of events included; each has a thread. Others are closed at once.
const CONNECTIONS_MAX: usize = 128;
/// Listeners of events at a time.
const LISTENERS_MAX: usize = 64;
/// Stack of a connection's thread.
const STACK_BYTES: usize = 512 * 1024;
/// Wait after a connection could not be taken, as when too many files are open.
const RETRY_AFTER: Duration = Duration::from_millis(50);

/// Options of the server.
#[derive(Clone, Debug)]
pub struct Options {
    /// The results file. It need not be there yet.
    pub results: PathBuf,
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// A secret of readers; required on any address that is not this machine's own.
    pub token: Option<String>,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Others would see the results.
    #[error("{listen} is not an address of this machine alone; give a --token, which readers then need")]
    NeedsToken { listen: SocketAddr },
    /// The token does not fit an address.
    #[error("a token is made of letters, digits and -_.~, at least one")]
    OddToken,
    /// Nobody can listen there.
    #[error("cannot listen on {listen}: {source}")]
    Listen { listen: SocketAddr, source: io::Error },
    /// The results file cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    options: Options,
    render: Render,
    access: Access,
}

/// A request for a page, from a connection's thread.
struct PageRequest {
    path: String,
    answer: Sender<Answer>,
}

/// State shared by the connections' threads.
struct Shared {
    access: Access,
    results: PathBuf,
    stop: Arc<AtomicBool>,
    connections: AtomicUsize,
    listeners: AtomicUsize,
}

impl Server {
    /// Listens; `render` writes the reports.
    ///
    /// # Errors
    /// The address is taken, or open to others without a token; the file is there and is no results file.
    pub fn start(options: Options, render: Render) -> Result<Self, ServeError> {
        let listen = options.listen;
        if options.token.is_none() && !listen.ip().is_loopback() {
            return Err(ServeError::NeedsToken { listen });
        }
        if options.token.as_deref().is_some_and(|token| !is_plain(token)) {
            return Err(ServeError::OddToken);
        }
        match Store::open_read_only(&options.results) {
            Ok(_) | Err(StoreError::NotFound { .. } | StoreError::Empty { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let listening = TcpListener::bind(listen).and_then(|listener| Ok((listener.local_addr()?, listener)));
        let (address, listener) = listening.map_err(|source| ServeError::Listen { listen, source })?;
        let access = Access { token: options.token.clone() };
        Ok(Self { listener, address, options, render, access })
    }

    /// The address that a reader opens, with the token if there is one.
    pub fn address(&self) -> String {
        let token = self.options.token.as_ref().map(|token| format!("?token={token}"));
        format!("http://{}/{}", self.address, token.unwrap_or_default())
    }

    /// Answers until it is told to stop.
    ///
    /// # Errors
    /// Connections can no longer be taken.
    pub fn serve(&self, stop: &Arc<AtomicBool>) -> io::Result<()> {
        let shared = Arc::new(Shared {
            access: self.access.clone(),
            results: self.options.results.clone(),
            stop: Arc::clone(stop),
            connections: AtomicUsize::new(0),
            listeners: AtomicUsize::new(0),
        });
        let (requests, wanted) = channel();
        let listener = self.listener.try_clone()?;
        let accepting = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || accept(&listener, &shared, &requests))
        };
        let mut pages = Pages::new(&self.options.results, &self.render);
        while !stop.load(Ordering::Relaxed) {
            match wanted.recv_timeout(PATIENCE) {
                Ok(PageRequest { path, answer }) => {
                    // A reader who went away is no concern of the others'.
                    let _ = answer.send(page(&path, &mut pages));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.wake(&accepting);
        Ok(())
    }

    /// Wakes the thread that waits for connections, which then ends.
    fn wake(&self, accepting: &thread::JoinHandle<()>) {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(match address {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        if !accepting.is_finished() {
            // If this fails, the thread ends with the process.
            let _ = TcpStream::connect_timeout(&address, PATIENCE);
        }
    }
}

/// Takes connections until the server stops.
fn accept(listener: &TcpListener, shared: &Arc<Shared>, requests: &Sender<PageRequest>) {
    for stream in listener.incoming() {
        if shared.stop.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else {
            thread::sleep(RETRY_AFTER);
            continue;
        };
        if shared.connections.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MAX {
            shared.connections.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (own, requests) = (Arc::clone(shared), requests.clone());
        let spawned = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
            own.converse(stream, &requests);
            own.connections.fetch_sub(1, Ordering::Relaxed);
        });
        if spawned.is_err() {
            shared.connections.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Shared {
    /// Reads a request and answers it. Whatever fails, the connection ends.
    fn converse(&self, mut stream: TcpStream, requests: &Sender<PageRequest>) {
        let answer = match Request::read(&mut stream) {
            Ok(request) => match self.route(&request) {
                Route::Answer(answer) => Some(answer),
                Route::Page(path) => ask(path, requests),
                Route::Events => return self.listen(stream),
            },
            Err(refusal) => refusal.answer(),
        };
        if answer.is_some_and(|answer| answer.write(&mut stream).is_ok()) {
            http::close(stream);
        }
    }

    fn route(&self, request: &Request) -> Route {
        if request.method != "GET" {
            return Route::Answer(Answer::text(405, "only GET: results are not changed from here"));
        }
        match self.access.decide(request) {
            Decision::Refused => {
                Route::Answer(Answer::text(403, "not without the token that dyno serve printed"))
            }
            Decision::Keep { path, cookie } => Route::Answer(Answer::redirect(path, cookie)),
            Decision::Allowed => match request.target.split('?').next().unwrap_or_default() {
                "/events" => Route::Events,
                path => Route::Page(path.to_owned()),
            },
        }
    }

    /// Sends events until the reader goes away.
    fn listen(&self, mut stream: TcpStream) {
        if self.listeners.fetch_add(1, Ordering::Relaxed) < LISTENERS_MAX {
            let _ =
                http::limit_writes(&stream).and_then(|()| events::stream(stream, &self.results, &self.stop));
        } else {
            let _ = Answer::text(503, "too many listen already").write(&mut stream);
        }
        self.listeners.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The kind of answer to a request.
enum Route {
    Answer(Answer),
    /// The page of this path.
    Page(String),
    Events,
}

/// Has a page made; none if the server stops.
fn ask(path: String, requests: &Sender<PageRequest>) -> Option<Answer> {
    let (answer, answered) = channel();
    requests.send(PageRequest { path, answer }).ok()?;
    answered.recv().ok()
}

fn page(path: &str, pages: &mut Pages<'_>) -> Answer {
    let page = match path.strip_prefix("/run/").map(str::parse) {
        Some(Ok(run)) => pages.run(RunId(run)),
        None if path == "/" => pages.list().map(Some).map_err(Into::into),
        _ => Ok(None),
    };
    match page {
        Ok(Some(page)) => Answer::html(page),
        Ok(None) => Answer::text(404, "no such page"),
        Err(error) => Answer::text(500, &error.to_string()),
    }
}

#[cfg(test)]
mod tests;

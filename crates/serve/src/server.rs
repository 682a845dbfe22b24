//! The server. Each connection has a thread that reads and writes; one more thread renders the pages.

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

/// Time between two checks of the stop flag.
const PATIENCE: Duration = Duration::from_millis(200);
/// Largest number of connections, listeners of events included. Each has a thread. Further connections are closed at
/// once.
const CONNECTIONS_MAX: usize = 128;
/// Largest number of listeners of events.
const LISTENERS_MAX: usize = 64;
/// Stack size of a connection's thread.
const STACK_BYTES: usize = 512 * 1024;
/// Wait after a failed accept, for example with too many open files.
const RETRY_AFTER: Duration = Duration::from_millis(50);

#[derive(Clone, Debug)]
pub struct Options {
    /// The results file. It may be created later.
    pub results: PathBuf,
    /// Address to listen on. Port 0 selects a free port.
    pub listen: SocketAddr,
    /// Token of the readers. It is required on addresses other than loopback.
    pub token: Option<String>,
}

/// Errors of starting the server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Other machines could read the results.
    #[error("other machines can reach {listen}; give a --token, which readers then need")]
    NeedsToken { listen: SocketAddr },
    /// The token contains characters that need escapes in an address.
    #[error("a token consists of one or more letters, digits and -_.~")]
    OddToken,
    #[error("cannot listen on {listen}: {source}")]
    Listen { listen: SocketAddr, source: io::Error },
    /// The results file cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

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
    /// Starts listening. `render` writes the reports.
    ///
    /// # Errors
    /// The address is in use, or it is not loopback and there is no token. The file exists and is not a results file.
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

    /// The address to open in a browser, with the token if there is one.
    pub fn address(&self) -> String {
        let token = self.options.token.as_ref().map(|token| format!("?token={token}"));
        format!("http://{}/{}", self.address, token.unwrap_or_default())
    }

    /// Answers requests until `stop` is set.
    ///
    /// # Errors
    /// Connections can no longer be accepted.
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
                    // Fails if the reader is gone.
                    let _ = answer.send(page(&path, &mut pages));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.wake(&accepting);
        Ok(())
    }

    /// Wakes the thread that waits for connections, so that it ends.
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

/// Accepts connections until the server stops.
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
    /// Reads a request and answers it. Any failure ends the connection.
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

    /// Sends events until the reader closes the connection.
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
    /// The page at this path.
    Page(String),
    Events,
}

/// Requests a page from the rendering thread; none if the server stops.
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

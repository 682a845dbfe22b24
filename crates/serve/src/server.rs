//! The server. Each connection has a thread that reads and writes. One thread renders pages, and one sends events.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use dyno_store::{Store, StoreError};
use rustix::process::{Resource, getrlimit};

use crate::access::{Access, Decision, is_plain};
use crate::answer::{self, Answer};
use crate::events::Listeners;
use crate::pages::{Pages, Render};
use crate::places::{Guest, Place, Places};
use crate::request::{Method, Request};
use crate::route::Route;

/// Time between two checks of the stop flag.
const PATIENCE: Duration = Duration::from_millis(200);
/// Largest number of connections that ask for pages. Each has a thread.
const CONNECTIONS_MAX: usize = 128;
/// Largest number of listeners of events.
const LISTENERS_MAX: usize = 256;
/// Stack size of a connection's thread.
const STACK_BYTES: usize = 512 * 1024;
/// Pause after an error of `accept`.
const RETRY_AFTER: Duration = Duration::from_millis(50);

#[derive(Clone, Debug)]
pub struct Options {
    /// The results file. It need not exist when the server starts.
    pub results: PathBuf,
    /// Address to listen on. With port 0, the system chooses an unused port.
    pub listen: SocketAddr,
    /// Token that requests must contain. It is required if the server listens on an address other than loopback.
    pub token: Option<String>,
}

/// Receives a line for each failure in the server.
pub type Log = Box<dyn Fn(&str) + Send>;

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Other machines could read the results, because there is no token.
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
    log: Log,
    access: Access,
}

/// A request for a page. A connection's thread sends it to the thread that renders pages.
struct PageRequest {
    route: Route,
    guest: Arc<Guest>,
    answer: Sender<Answer>,
}

/// State shared by the connections' threads.
struct Shared {
    access: Access,
    listeners: Listeners,
}

impl Server {
    /// Starts listening. `render` renders the reports as pages. `log` receives a line for each failure.
    ///
    /// # Errors
    /// The address is in use, or it is not loopback and there is no token. Or the file exists but is not a results
    /// file.
    pub fn start(options: Options, render: Render, log: Log) -> Result<Self, ServeError> {
        let listen = options.listen;
        if options.token.is_none() && !listen.ip().to_canonical().is_loopback() {
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
        let access = Access::new(options.token.clone(), address.port());
        Ok(Self { listener, address, options, render, log, access })
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
        let files = open_files_max();
        let listeners = Listeners::new(LISTENERS_MAX.min(files / 4));
        let shared = Arc::new(Shared { access: self.access.clone(), listeners });
        let (requests, wanted) = channel();
        let listener = self.listener.try_clone()?;
        let accepting = {
            let (shared, stop) = (Arc::clone(&shared), Arc::clone(stop));
            let places = Arc::new(Places::new(CONNECTIONS_MAX.min(files / 4)));
            thread::spawn(move || accept(&listener, &shared, &places, &stop, &requests))
        };
        let (results, told) = (self.options.results.clone(), Arc::clone(stop));
        thread::spawn(move || shared.listeners.tell(&results, &told));
        self.answer(&wanted, stop);
        self.wake(&accepting);
        Ok(())
    }

    /// Renders pages until `stop` is set.
    fn answer(&self, wanted: &Receiver<PageRequest>, stop: &AtomicBool) {
        let mut pages = Pages::new(&self.options.results, &self.render);
        while !stop.load(Ordering::Relaxed) {
            match wanted.recv_timeout(PATIENCE) {
                Ok(request) if request.guest.has_lost_place() => {}
                Ok(PageRequest { route, answer, .. }) => {
                    // Fails if the reader is gone, which does not matter.
                    let _ = answer.send(self.page(route, &mut pages));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    }

    /// Returns the page at a route. If rendering panics, only this page fails, so that no results file can make the
    /// server end.
    fn page(&self, route: Route, pages: &mut Pages<'_>) -> Answer {
        let rendered = catch_unwind(AssertUnwindSafe(|| pages.page(route))).unwrap_or_else(|_| {
            pages.forget();
            Err("this page cannot be made from what is in the results file; try `dyno results check`".into())
        });
        rendered.unwrap_or_else(|error| {
            let status = failure_status(&*error);
            if status >= 500 {
                (self.log)(&format!("{}: {error}", route.path()));
            }
            Answer::problem(status, &error.to_string())
        })
    }

    /// Connects to the server itself, so that the thread that accepts connections wakes up and sees the stop flag.
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

/// Returns the number of files that this process may have open at the same time. The results file needs some of them.
fn open_files_max() -> usize {
    getrlimit(Resource::Nofile).current.and_then(|files| files.try_into().ok()).unwrap_or(usize::MAX)
}

/// Returns the HTTP status for a page that cannot be made because of an error.
fn failure_status(error: &(dyn std::error::Error + 'static)) -> u16 {
    match error.downcast_ref() {
        Some(StoreError::NotFound { .. } | StoreError::Empty { .. } | StoreError::NoSuchRun { .. }) => 404,
        Some(StoreError::Locked { .. }) => 503,
        _ => 500,
    }
}

/// Accepts connections until the server stops.
fn accept(
    listener: &TcpListener,
    shared: &Arc<Shared>,
    places: &Arc<Places>,
    stop: &AtomicBool,
    requests: &Sender<PageRequest>,
) {
    while !stop.load(Ordering::Relaxed) {
        let Ok((stream, address)) = listener.accept() else {
            // The error is probably that too many files are open, so a connection is closed.
            places.make_room();
            thread::sleep(RETRY_AFTER);
            continue;
        };
        let place = places.take(stream, address);
        let (shared, requests) = (Arc::clone(shared), requests.clone());
        let spawned =
            thread::Builder::new().stack_size(STACK_BYTES).spawn(move || shared.converse(&place, &requests));
        if spawned.is_err() {
            places.make_room();
        }
    }
}

impl Shared {
    /// Reads a request and answers it. A failure ends the connection.
    fn converse(&self, place: &Place, requests: &Sender<PageRequest>) {
        let stream = &place.guest.stream;
        let (method, answer) = match Request::read(stream) {
            Ok(request) => {
                place.guest.asks();
                (request.method, self.answer(&request, &place.guest, requests))
            }
            Err(refusal) => (Method::Other, Answer::refusal(refusal)),
        };
        if answer.is_some_and(|answer| answer.write(method, stream).is_ok()) {
            answer::close(stream);
        }
    }

    /// Returns the answer to a request. `None` if nothing more is to be written to the connection.
    fn answer(
        &self,
        request: &Request,
        guest: &Arc<Guest>,
        requests: &Sender<PageRequest>,
    ) -> Option<Answer> {
        if request.method == Method::Other {
            return Some(Answer::not_allowed());
        }
        let decision = self.access.decide(request);
        if let Decision::Refused(says) = decision {
            return Some(Answer::problem(403, says));
        }
        let Some(route) = Route::of(&request.target) else {
            return Some(Answer::problem(404, "There is no such page."));
        };
        match (decision, route) {
            (Decision::Keep { cookie }, _) => Some(Answer::redirect(route.path(), cookie)),
            (_, Route::Events) if request.method == Method::Head => {
                // If this fails, the reader is gone.
                let _ = answer::write_all(answer::events_head().as_bytes(), &guest.stream);
                None
            }
            (_, Route::Events) => {
                // If the process has no more file descriptors for the listener, the connection ends, and the reader
                // asks again later.
                guest
                    .stream
                    .try_clone()
                    .into_iter()
                    .for_each(|stream| self.listeners.add(stream, guest.peer));
                None
            }
            _ => Some(ask(route, guest, requests)?.accepted_by(request.header("Accept"))),
        }
    }
}

/// Requests a page from the rendering thread. `None` if the server stops, or if the connection lost its place.
fn ask(route: Route, guest: &Arc<Guest>, requests: &Sender<PageRequest>) -> Option<Answer> {
    let (answer, answered) = channel();
    requests.send(PageRequest { route, guest: Arc::clone(guest), answer }).ok()?;
    while !guest.has_lost_place() {
        match answered.recv_timeout(PATIENCE) {
            Err(RecvTimeoutError::Timeout) => {}
            answered => return answered.ok(),
        }
    }
    None
}

#[cfg(test)]
mod tests;

//! The server: requests in, pages out, a thread for each listener of events.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use dyno_store::{RunId, Store, StoreError};
use tiny_http::{Header, Method, Request, Response};

use crate::access::{Access, Decision, is_plain};
use crate::events;
use crate::pages::{AnyError, Pages, Render};

/// How often the server looks whether it should stop.
const PATIENCE: Duration = Duration::from_millis(200);
/// Listeners of events at a time; each has a thread.
const LISTENERS_MAX: usize = 64;

/// What is served, and to whom.
#[derive(Clone, Debug)]
pub struct Options {
    /// The results file. It need not be there yet.
    pub results: PathBuf,
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// What others must know; needed on any address that is not this machine's own.
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
    Listen { listen: SocketAddr, source: AnyError },
    /// The results file cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A server that listens.
pub struct Server {
    http: tiny_http::Server,
    options: Options,
    render: Render,
    access: Access,
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
        let http = tiny_http::Server::http(listen).map_err(|source| ServeError::Listen { listen, source })?;
        let access = Access { token: options.token.clone() };
        Ok(Self { http, options, render, access })
    }

    /// The address that a reader opens, with the token if there is one.
    pub fn address(&self) -> String {
        let listen = self.http.server_addr().to_ip().unwrap_or(self.options.listen);
        let token = self.options.token.as_ref().map(|token| format!("?token={token}"));
        format!("http://{listen}/{}", token.unwrap_or_default())
    }

    /// Answers until it is told to stop.
    ///
    /// # Errors
    /// Connections can no longer be taken.
    pub fn serve(&self, stop: &Arc<AtomicBool>) -> io::Result<()> {
        let mut pages = Pages::new(&self.options.results, &self.render);
        let listeners = Arc::new(AtomicUsize::new(0));
        while !stop.load(Ordering::Relaxed) {
            let Some(request) = self.http.recv_timeout(PATIENCE)? else { continue };
            // A reader who went away is no concern of the others'.
            let _ = self.answer(request, &mut pages, &listeners, stop);
        }
        Ok(())
    }

    fn answer(
        &self,
        request: Request,
        pages: &mut Pages<'_>,
        listeners: &Arc<AtomicUsize>,
        stop: &Arc<AtomicBool>,
    ) -> io::Result<()> {
        if *request.method() != Method::Get {
            return request.respond(text(405, "only GET: results are not changed from here"));
        }
        match self.access.decide(&request) {
            Decision::Refused => {
                return request.respond(text(403, "not without the token that dyno serve printed"));
            }
            Decision::Keep { path, cookie } => {
                let response = Response::empty(303).with_header(header("Location", &path));
                return request.respond(response.with_header(header("Set-Cookie", &cookie)));
            }
            Decision::Allowed => {}
        }
        let path = request.url().split('?').next().unwrap_or_default().to_owned();
        if path == "/events" {
            return self.listen(request, listeners, stop);
        }
        let page = match path.strip_prefix("/run/").map(str::parse) {
            Some(Ok(run)) => pages.run(RunId(run)),
            None if path == "/" => pages.list().map(Some).map_err(Into::into),
            _ => Ok(None),
        };
        match page {
            Ok(Some(page)) => request.respond(html(page)),
            Ok(None) => request.respond(text(404, "no such page")),
            Err(error) => request.respond(text(500, &error.to_string())),
        }
    }

    /// Gives a listener a thread of its own.
    fn listen(
        &self,
        request: Request,
        listeners: &Arc<AtomicUsize>,
        stop: &Arc<AtomicBool>,
    ) -> io::Result<()> {
        if listeners.fetch_add(1, Ordering::Relaxed) >= LISTENERS_MAX {
            listeners.fetch_sub(1, Ordering::Relaxed);
            return request.respond(text(503, "too many listen already"));
        }
        let (results, listeners, stop) =
            (self.options.results.clone(), Arc::clone(listeners), Arc::clone(stop));
        thread::spawn(move || {
            // It ends when the reader goes away.
            let _ = events::stream(request.into_writer(), &results, &stop);
            listeners.fetch_sub(1, Ordering::Relaxed);
        });
        Ok(())
    }
}

fn html(page: String) -> Response<io::Cursor<Vec<u8>>> {
    let kind = header("Content-Type", "text/html; charset=utf-8");
    guarded(Response::from_string(page).with_header(kind))
}

fn text(status: u16, words: &str) -> Response<io::Cursor<Vec<u8>>> {
    guarded(Response::from_string(format!("{words}\n")).with_status_code(status))
}

/// What every answer says: nobody may keep it, guess its kind, frame it, or learn where a reader came from.
fn guarded<R: io::Read>(response: Response<R>) -> Response<R> {
    response
        .with_header(header("Cache-Control", "no-store"))
        .with_header(header("X-Content-Type-Options", "nosniff"))
        .with_header(header("X-Frame-Options", "DENY"))
        .with_header(header("Referrer-Policy", "no-referrer"))
}

fn header(name: &str, value: &str) -> Header {
    Header::from_bytes(name, value).expect("names and values here are plain ASCII")
}

#[cfg(test)]
mod tests;

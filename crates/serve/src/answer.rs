//! Answers of known length, and time limits for readers that receive answers slowly.

use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use dyno_report::simple_page;
use maud::html;

use crate::request::{Method, Refusal};

/// Time limit of a write that makes no progress. [`ANSWER_PATIENCE`] is the time limit of a whole answer.
const WRITE_PATIENCE: Duration = Duration::from_secs(10);
const ANSWER_PATIENCE: Duration = Duration::from_secs(120);
/// Longest time for reading the rest of a request after the answer. Without this reading, the answer might be lost
/// (RFC 9112, section 9.6).
const LINGER: Duration = Duration::from_millis(500);
const LINGER_BYTES_MAX: usize = 64 * 1024;

/// Content type of Prometheus's older text format. Metrics are valid in this format and in OpenMetrics.
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text";

/// Headers of every answer. They forbid caching, content sniffing, framing, referrers, and embedding in other
/// sites.
const COMMON: &str = "Cache-Control: no-store\r\n\
    X-Content-Type-Options: nosniff\r\n\
    X-Frame-Options: DENY\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Referrer-Policy: no-referrer\r\n\
    Connection: close\r\n";

/// An answer of known length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Answer {
    pub(crate) fn html(status: u16, page: String) -> Self {
        let kind = ("Content-Type", "text/html; charset=utf-8".to_owned());
        Self { status, headers: vec![kind], body: page }
    }

    /// Returns a page with the reason why the requested page cannot be shown.
    pub(crate) fn problem(status: u16, says: &str) -> Self {
        let title = match status {
            403 => "Not allowed",
            404 => "Not found",
            _ => "This page cannot be made",
        };
        let body = html! {
            div.title { h1 { (title) } }
            main { section { p { (says) } p { a href="/" { "All runs" } } } }
        };
        Self::html(status, simple_page(title, &body))
    }

    fn text(status: u16, says: &str) -> Self {
        let kind = ("Content-Type", "text/plain; charset=utf-8".to_owned());
        Self { status, headers: vec![kind], body: format!("{says}\n") }
    }

    /// Returns metrics as an answer, with the older content type, which all readers accept.
    pub(crate) fn metrics(text: String) -> Self {
        Self { status: 200, headers: vec![("Content-Type", METRICS.to_owned())], body: text }
    }

    /// Sets the content type of metrics to one that the request's `Accept` header allows. Does not change other
    /// answers.
    pub(crate) fn accepted_by(mut self, accept: &str) -> Self {
        for (_, value) in self.headers.iter_mut().filter(|(_, value)| value == METRICS) {
            if accept.contains(OPEN_METRICS) {
                *value = format!("{OPEN_METRICS}; version=1.0.0; charset=utf-8");
            }
        }
        self
    }

    pub(crate) fn not_allowed() -> Self {
        let mut answer = Self::text(405, "Only GET and HEAD: results are not changed from here.");
        answer.headers.push(("Allow", "GET, HEAD".to_owned()));
        answer
    }

    /// Redirects the reader to a path of this server and sets a cookie.
    pub(crate) fn redirect(path: String, cookie: String) -> Self {
        Self { status: 303, headers: vec![("Location", path), ("Set-Cookie", cookie)], body: String::new() }
    }

    /// The answer to an unreadable request; `None` if the reader is gone.
    pub(crate) fn refusal(refusal: Refusal) -> Option<Self> {
        let (status, says) = match refusal {
            Refusal::Gone => return None,
            Refusal::Slow => (408, "The request took too long."),
            Refusal::TooLarge => (431, "The request has too many headers."),
            Refusal::Malformed => (400, "This is not a valid HTTP request."),
            Refusal::HasBody => (413, "Requests must not have a body."),
        };
        Some(Self::text(status, says))
    }

    /// Writes the answer. An answer to `HEAD` has no body.
    pub(crate) fn write(&self, method: Method, stream: &TcpStream) -> io::Result<()> {
        let mut text = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        for (name, value) in &self.headers {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        let _ = write!(text, "Content-Length: {}\r\n{COMMON}\r\n", self.body.len());
        if method != Method::Head {
            text += &self.body;
        }
        write_all(text.as_bytes(), stream)
    }
}

/// Returns the head of an answer that is a stream of events.
pub(crate) fn events_head() -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{COMMON}\r\n")
}

/// Writes all bytes. Fails when a time limit has passed, even if the reader still takes a few bytes at a time.
pub(crate) fn write_all(mut bytes: &[u8], mut stream: &TcpStream) -> io::Result<()> {
    let deadline = Instant::now() + ANSWER_PATIENCE;
    while !bytes.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now()).min(WRITE_PATIENCE);
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(length) => bytes = &bytes[length..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Closes a connection after its answer. Before that, reads the rest of the request for at most [`LINGER`], because
/// closing a connection with unread bytes resets it, and a reset may lose the answer.
pub(crate) fn close(mut stream: &TcpStream) {
    let deadline = Instant::now() + LINGER;
    // If these calls fail, dropping the stream closes the connection.
    let _ = stream.shutdown(Shutdown::Write);
    let (mut chunk, mut length) = ([0; 4096], 0);
    while length < LINGER_BYTES_MAX {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return;
        }
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return,
            Ok(read) => length += read,
        }
    }
}

/// The name of a status (RFC 9110, section 15).
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        303 => "See Other",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

//! The part of HTTP/1.1 that pages need. A connection has one request without a body, and every part has a limit, so
//! that no reader blocks others.

use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// Largest head of a request.
const HEAD_BYTES_MAX: usize = 16 * 1024;
const HEADERS_MAX: usize = 64;
/// Time limit of a request's head.
const HEAD_PATIENCE: Duration = Duration::from_secs(5);
/// Time limit of a write, and of a whole answer.
const WRITE_PATIENCE: Duration = Duration::from_secs(5);
const ANSWER_PATIENCE: Duration = Duration::from_secs(60);
/// Time for which the rest of a request is read after the answer, so that the answer arrives (RFC 9112, section 9.6).
const LINGER: Duration = Duration::from_millis(500);
const LINGER_BYTES_MAX: usize = 64 * 1024;
/// Bytes of an answer that are written at a time.
const CHUNK_BYTES: usize = 64 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    headers: Vec<(String, String)>,
}

/// Reason for not answering a request with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The reader closed the connection.
    Gone,
    Slow,
    TooLarge,
    Malformed,
    HasBody,
}

impl Refusal {
    /// The answer; none if the reader is gone.
    pub(crate) fn answer(self) -> Option<Answer> {
        let (status, words) = match self {
            Self::Gone => return None,
            Self::Slow => (408, "the request took too long"),
            Self::TooLarge => (431, "the request has too many headers"),
            Self::Malformed => (400, "this is not a valid HTTP request"),
            Self::HasBody => (413, "requests must not have a body"),
        };
        Some(Answer::text(status, words))
    }
}

impl Request {
    /// A header's value; empty without one.
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }

    /// Reads a request's head.
    pub(crate) fn read(stream: &mut TcpStream) -> Result<Self, Refusal> {
        let deadline = Instant::now() + HEAD_PATIENCE;
        let mut head = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Refusal::Slow);
            }
            stream.set_read_timeout(Some(left)).map_err(|_| Refusal::Gone)?;
            match stream.read(&mut chunk) {
                Ok(0) => return Err(Refusal::Gone),
                Ok(length) => head.extend_from_slice(&chunk[..length]),
                Err(error) if is_timeout(&error) => return Err(Refusal::Slow),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Err(Refusal::Gone),
            }
            if let Some(request) = Self::parse(&head)? {
                return Ok(request);
            }
            if head.len() > HEAD_BYTES_MAX {
                return Err(Refusal::TooLarge);
            }
        }
    }

    /// Parses a head; none if it is incomplete.
    fn parse(head: &[u8]) -> Result<Option<Self>, Refusal> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(head) {
            Ok(httparse::Status::Partial) => return Ok(None),
            Ok(httparse::Status::Complete(_)) => {}
            Err(httparse::Error::TooManyHeaders) => return Err(Refusal::TooLarge),
            Err(_) => return Err(Refusal::Malformed),
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let request = Self {
            method: parsed.method.unwrap_or_default().to_owned(),
            target: parsed.path.unwrap_or_default().to_owned(),
            headers: parsed
                .headers
                .iter()
                .map(|header| (header.name.to_owned(), text(header.value)))
                .collect(),
        };
        let has_body = !matches!(request.header("Content-Length"), "" | "0")
            || !request.header("Transfer-Encoding").is_empty();
        if has_body { Err(Refusal::HasBody) } else { Ok(Some(request)) }
    }
}

/// An answer of known length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Answer {
    pub(crate) fn html(page: String) -> Self {
        let kind = ("Content-Type", "text/html; charset=utf-8".to_owned());
        Self { status: 200, headers: vec![kind], body: page }
    }

    pub(crate) fn text(status: u16, words: &str) -> Self {
        let kind = ("Content-Type", "text/plain; charset=utf-8".to_owned());
        Self { status, headers: vec![kind], body: format!("{words}\n") }
    }

    /// Redirects the reader to another path and sets a cookie.
    pub(crate) fn redirect(path: String, cookie: String) -> Self {
        Self { status: 303, headers: vec![("Location", path), ("Set-Cookie", cookie)], body: String::new() }
    }

    /// Writes the answer. Its headers forbid caching, content sniffing, framing and referrers.
    pub(crate) fn write(&self, stream: &mut TcpStream) -> io::Result<()> {
        let mut text = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        let length = self.body.len().to_string();
        let own = self.headers.iter().map(|(name, value)| (*name, value.as_str()));
        let common = [
            ("Content-Length", length.as_str()),
            ("Connection", "close"),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"),
        ];
        for (name, value) in own.chain(common) {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        text += "\r\n";
        text += &self.body;
        limit_writes(stream)?;
        let deadline = Instant::now() + ANSWER_PATIENCE;
        for chunk in text.as_bytes().chunks(CHUNK_BYTES) {
            if Instant::now() > deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
            stream.write_all(chunk)?;
        }
        stream.flush()
    }
}

/// Sets a time limit on writes, for readers that do not read.
pub(crate) fn limit_writes(stream: &TcpStream) -> io::Result<()> {
    stream.set_write_timeout(Some(WRITE_PATIENCE))
}

/// Closes a connection after its answer. It first reads the rest of the request for a moment. Closing with unread bytes
/// resets the connection, which may lose the answer.
pub(crate) fn close(mut stream: TcpStream) {
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

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(head: &str) -> Result<Option<Request>, Refusal> {
        Request::parse(head.as_bytes())
    }

    #[test]
    fn a_head_has_method_target_and_headers_of_any_case() {
        let request =
            parse("GET /run/1?a=b HTTP/1.1\r\nHost: localhost\r\ncookie: x=y\r\n\r\n").unwrap().unwrap();
        assert_eq!((&*request.method, &*request.target), ("GET", "/run/1?a=b"));
        assert_eq!(
            (request.header("host"), request.header("Cookie"), request.header("X")),
            ("localhost", "x=y", "")
        );
        assert_eq!(parse("GET / HTTP/1.1\r\nHost:"), Ok(None));
    }

    #[test]
    fn what_is_no_request_of_ours_is_refused() {
        let with = |header: &str| parse(&format!("GET / HTTP/1.1\r\n{header}\r\n\r\n")).unwrap_err();
        assert_eq!(with("Content-Length: 18446744073709551615"), Refusal::HasBody);
        assert_eq!(with("Transfer-Encoding: chunked"), Refusal::HasBody);
        assert_eq!(with(&"X: y\r\n".repeat(HEADERS_MAX + 1)), Refusal::TooLarge);
        assert_eq!(parse("\u{1}\u{2}\r\n\r\n"), Err(Refusal::Malformed));
    }
}

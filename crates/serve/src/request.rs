//! Reads the head of a request, by the part of HTTP/1.1 that this server needs. A connection has only one request,
//! and the request has no body. So no part of a request can be mistaken for a second request.

use std::io::{self, Read as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Largest size of a request's head, in bytes.
const HEAD_BYTES_MAX: usize = 16 * 1024;
const HEADERS_MAX: usize = 64;
/// Time limit for receiving a whole head, even if it arrives byte by byte.
const HEAD_PATIENCE: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// Path and query, as they were sent.
    pub(crate) target: String,
    /// The host and port by which the reader addresses this server. Empty if the request names none.
    pub(crate) host: String,
    headers: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    /// `HEAD`: asks only for the headers that the answer to `GET` would have.
    Head,
    Other,
}

/// Why a request cannot be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The reader closed the connection.
    Gone,
    Slow,
    TooLarge,
    Malformed,
    HasBody,
}

impl Request {
    /// Returns the first value of a header; empty if the request does not have the header.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.values(name).next().unwrap_or_default()
    }

    fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.headers
            .iter()
            .filter_map(move |(known, value)| known.eq_ignore_ascii_case(name).then_some(&**value))
    }

    /// Reads a request's head.
    pub(crate) fn read(mut stream: &TcpStream) -> Result<Self, Refusal> {
        let deadline = Instant::now() + HEAD_PATIENCE;
        let mut head = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Refusal::Slow);
            }
            stream.set_read_timeout(Some(left)).map_err(|_| Refusal::Gone)?;
            let length = match stream.read(&mut chunk) {
                Ok(0) => return Err(Refusal::Gone),
                Ok(length) => length,
                Err(error) if is_timeout(&error) => return Err(Refusal::Slow),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Err(Refusal::Gone),
            };
            head.extend_from_slice(&chunk[..length]);
            // Parses only after the end of a line has arrived. Otherwise a head that arrives byte by byte would be
            // parsed for each byte.
            if chunk[..length].contains(&b'\n')
                && let Some(request) = Self::parse(&head)?
            {
                return Ok(request);
            }
            if head.len() > HEAD_BYTES_MAX {
                return Err(Refusal::TooLarge);
            }
        }
    }

    /// Parses a head; `None` if it is incomplete.
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
        let (authority, target) = split_target(parsed.path.unwrap_or_default());
        let mut request = Self {
            method: Method::of(parsed.method.unwrap_or_default()),
            target: target.to_owned(),
            host: String::new(),
            headers: parsed
                .headers
                .iter()
                .map(|header| (header.name.to_owned(), text(header.value)))
                .collect(),
        };
        let has_body = request.values("Content-Length").any(|length| length != "0")
            || request.values("Transfer-Encoding").next().is_some();
        if has_body {
            return Err(Refusal::HasBody);
        }
        // A request names exactly one host. In HTTP/1.0 it may name none (RFC 9112, section 3.2).
        let hosts = request.values("Host").count();
        if hosts > 1 || (hosts == 0 && parsed.version == Some(1)) {
            return Err(Refusal::Malformed);
        }
        request.host = authority.unwrap_or_else(|| request.header("Host")).to_owned();
        Ok(Some(request))
    }
}

impl Method {
    fn of(name: &str) -> Self {
        match name {
            "GET" => Self::Get,
            "HEAD" => Self::Head,
            _ => Self::Other,
        }
    }
}

/// Splits a target into the host, and the path with its query. Only a target that is a whole address (RFC 9112,
/// section 3.2.2) has a host.
fn split_target(target: &str) -> (Option<&str>, &str) {
    let Some(rest) = target.strip_prefix("http://") else { return (None, target) };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    (Some(host), if path.is_empty() { "/" } else { path })
}

pub(crate) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
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
            parse("HEAD /run/1?a=b HTTP/1.1\r\nHost: localhost\r\ncookie: x=y\r\n\r\n").unwrap().unwrap();
        assert_eq!((request.method, &*request.target), (Method::Head, "/run/1?a=b"));
        assert_eq!((&*request.host, request.header("Cookie"), request.header("X")), ("localhost", "x=y", ""));
        assert_eq!(parse("GET / HTTP/1.1\r\nHost:"), Ok(None));
    }

    #[test]
    fn a_whole_address_names_the_host() {
        let host_and_target = |target: &str| {
            let head = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n");
            let request = parse(&head).unwrap().unwrap();
            (request.host, request.target)
        };
        let pair = |host: &str, target: &str| (host.to_owned(), target.to_owned());
        assert_eq!(host_and_target("http://evil.example/run/1?a"), pair("evil.example", "/run/1?a"));
        assert_eq!(host_and_target("http://evil.example"), pair("evil.example", "/"));
        assert_eq!(host_and_target("//evil.example/"), pair("localhost", "//evil.example/"));
    }

    #[test]
    fn what_is_no_request_of_ours_is_refused() {
        let with = |headers: &str| parse(&format!("GET / HTTP/1.1\r\n{headers}\r\n\r\n")).unwrap_err();
        let body = [
            "Host: a\r\nContent-Length: 18446744073709551615",
            "Host: a\r\nContent-Length: 0\r\nContent-Length: 5",
            "Host: a\r\nContent-Length: +0",
            "Host: a\r\nTransfer-Encoding: chunked",
            "Host: a\r\nContent-Length: 0\r\nTransfer-Encoding:",
        ];
        for headers in body {
            assert_eq!(with(headers), Refusal::HasBody, "{headers}");
        }
        for headers in ["X: y", "Host: a\r\nHost: b", "Host : a", "Host: a\r\n folded", "Host: a\r\nX: \0"] {
            assert_eq!(with(headers), Refusal::Malformed, "{headers}");
        }
        assert_eq!(with(&"X: y\r\n".repeat(HEADERS_MAX + 1)), Refusal::TooLarge);
        assert_eq!(parse("\u{1}\u{2}\r\n\r\n"), Err(Refusal::Malformed));
        assert_eq!(parse("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), Err(Refusal::Malformed));
    }
}

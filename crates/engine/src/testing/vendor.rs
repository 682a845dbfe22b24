//! A vendor's site with HTTPS on this host, and a proxy.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::Authority;

/// A site's answer to a request for a path. Without an answer, the status is 404.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The file. A request may ask for a part that begins at any byte.
    File(Vec<u8>),
    /// The file. A request for the whole file gets only this many bytes.
    Cut(Vec<u8>, usize),
    /// A redirection to another address.
    Moved(String),
}

/// A site with the answers that a test gives it. Its thread ends with the process.
#[derive(Debug)]
pub struct Vendor {
    port: u16,
    site: Arc<Mutex<Site>>,
}

#[derive(Debug, Default)]
struct Site {
    answers: BTreeMap<String, Answer>,
    asked: Vec<String>,
    is_closed: bool,
}

impl Vendor {
    /// Starts a site at `localhost` with a certificate of an authority.
    ///
    /// # Panics
    /// There is no free port, or the certificate cannot be made.
    pub fn start(authority: &Authority) -> Self {
        let identity = authority.identify("localhost");
        let chain = CertificateDer::pem_file_iter(&identity.cert).expect("a certificate");
        let chain = chain.collect::<Result<Vec<_>, _>>().expect("a certificate");
        let key = PrivateKeyDer::from_pem_file(&identity.key).expect("a key");
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("protocols")
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .expect("a certificate with its key");
        let (config, site) = (Arc::new(config), Arc::new(Mutex::new(Site::default())));
        let of_threads = Arc::clone(&site);
        let port = listen(move |stream| {
            let connection = ServerConnection::new(Arc::clone(&config)).map_err(io::Error::other)?;
            answer(StreamOwned::new(connection, stream), &of_threads)
        });
        Self { port, site }
    }

    /// Returns the site's address: `https://localhost:PORT`.
    pub fn address(&self) -> String {
        format!("https://localhost:{}", self.port)
    }

    /// Sets the answer to requests for a path, such as `/archives/a.tar.gz`.
    pub fn put(&self, path: &str, answer: Answer) {
        self.site().answers.insert(path.to_owned(), answer);
    }

    /// Returns the requests so far. Each is a path. If the request does not begin at the file's first byte, the first
    /// requested byte follows the path.
    pub fn asked(&self) -> Vec<String> {
        self.site().asked.clone()
    }

    /// Closes the site: no further request gets an answer.
    pub fn close(&self) {
        self.site().is_closed = true;
    }

    fn site(&self) -> std::sync::MutexGuard<'_, Site> {
        self.site.lock().expect("no thread panics with it")
    }
}

/// A proxy. If it has a password, it connects only clients that know the password.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// Starts a proxy. `credentials` is `USER:PASSWORD` in base64, as in the header.
    ///
    /// # Panics
    /// There is no free port.
    pub fn start(credentials: Option<&str>) -> Self {
        let wanted = credentials.map(|word| format!("proxy-authorization: basic {word}").to_lowercase());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let of_threads = Arc::clone(&asked);
        let port = listen(move |mut stream| {
            let head = head(&mut BufReader::new(stream.try_clone()?))?;
            let target = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned();
            let is_known = |wanted: &String| head.iter().any(|line| line.to_lowercase() == *wanted);
            if !wanted.as_ref().is_none_or(is_known) {
                let words = "HTTP/1.1 407 Proxy Authentication Required\r\n\
                             Proxy-Authenticate: Basic realm=\"proxy\"\r\nContent-Length: 0\r\n\r\n";
                return stream.write_all(words.as_bytes());
            }
            of_threads.lock().expect("no thread panics with it").push(target.clone());
            tunnel(stream, &TcpStream::connect(target)?)
        });
        Self { port, asked }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The hosts that the proxy has connected to.
    ///
    /// # Panics
    /// A thread of the proxy panicked.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no thread panics with it").clone()
    }
}

/// Opens a new port. Serves each connection in its own thread.
fn listen(serve: impl Fn(TcpStream) -> io::Result<()> + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("a port").port();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            // An error is ignored, because in some tests the client closes the connection early.
            thread::spawn(move || drop(serve(stream)));
        }
    });
    port
}

/// Reads the lines of a request up to the empty line.
fn head(reader: &mut impl io::BufRead) -> io::Result<Vec<String>> {
    let lines = reader.lines().take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty()));
    lines.collect()
}

fn answer(mut stream: StreamOwned<ServerConnection, TcpStream>, site: &Mutex<Site>) -> io::Result<()> {
    let head = head(&mut BufReader::new(&mut stream))?;
    let path = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned();
    let from = head.iter().find_map(|line| {
        let range = line.to_lowercase();
        range.strip_prefix("range: bytes=")?.trim_end_matches('-').parse::<usize>().ok()
    });
    let answer = {
        let mut site = site.lock().map_err(|_| io::Error::other("a thread panicked"))?;
        if site.is_closed {
            return Ok(());
        }
        site.asked.push(from.map_or_else(|| path.clone(), |from| format!("{path} from {from}")));
        site.answers.get(&path).cloned()
    };
    match answer {
        None => {
            stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
        }
        Some(Answer::Moved(to)) => write!(
            stream,
            "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )?,
        Some(Answer::File(bytes)) => send(&mut stream, &bytes, from, bytes.len())?,
        Some(Answer::Cut(bytes, end)) => {
            send(&mut stream, &bytes, from, if from.is_some() { bytes.len() } else { end })?;
        }
    }
    stream.conn.send_close_notify();
    stream.flush()
}

/// Sends the bytes of a file from `from` to `end`. The header announces all bytes from `from` on (RFC 9110, section
/// 14).
fn send(stream: &mut impl Write, bytes: &[u8], from: Option<usize>, end: usize) -> io::Result<()> {
    let (start, length) = (from.unwrap_or(0), bytes.len());
    if start >= length && from.is_some() {
        return stream.write_all(b"HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\n\r\n");
    }
    let status = match from {
        Some(from) => {
            format!("206 Partial Content\r\nContent-Range: bytes {from}-{}/{length}", length - 1)
        }
        None => "200 OK".to_owned(),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nAccept-Ranges: bytes\r\nConnection: close\r\n\r\n",
        length - start
    )?;
    stream.write_all(&bytes[start..end])
}

/// Carries bytes in both directions until one side ends.
fn tunnel(mut client: TcpStream, server: &TcpStream) -> io::Result<()> {
    client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    let there = thread::spawn(move || {
        let copied = io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Write);
        copied
    });
    let mut from_server = server;
    io::copy(&mut from_server, &mut client)?;
    let _ = client.shutdown(Shutdown::Write);
    drop(there.join());
    Ok(())
}

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use dyno_store::{RunRecord, Store};
use tempfile::TempDir;

use super::*;

/// A server on a free port, for a results file with one run of a plan with this name. Dropping this stops it.
struct Running {
    folder: TempDir,
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Running {
    fn start(plan_name: &str, token: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let results = folder.path().join("dyno.db");
        let record = RunRecord {
            plan_name: plan_name.to_owned(),
            host: serde_json::json!({}),
            ..RunRecord::default()
        };
        Store::open(&results).unwrap().create_run(&record).unwrap();
        let listen = "127.0.0.1:0".parse().unwrap();
        let server = Options { results, listen, token: token.map(str::to_owned) };
        let server = Server::start(server, Box::new(|_, run, _| Ok(run.record.plan_name.clone()))).unwrap();
        let address = server.address;
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = Some(thread::spawn(move || server.serve(&told).unwrap()));
        Self { folder, address, stop, thread }
    }

    fn connect(&self, head: &str) -> TcpStream {
        let mut connection = TcpStream::connect(self.address).unwrap();
        connection.write_all(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
        connection
    }

    /// The complete answer to a request with this first line and a local `Host`.
    fn ask(&self, line: &str) -> String {
        self.ask_with(line, "localhost", "X-None: 1")
    }

    fn ask_with(&self, line: &str, host: &str, header: &str) -> String {
        let mut answer = String::new();
        let head = format!("{line} HTTP/1.1\r\nHost: {host}\r\n{header}");
        self.connect(&head).read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap()
}

#[test]
fn runs_are_listed_and_shown_and_nothing_else_is_there() {
    let running = Running::start("first-look", None);
    let list = running.ask("GET /");
    assert!(
        list.contains("first-look") && list.contains("href=\"/run/1\"") && list.contains("running"),
        "{list}"
    );
    assert_eq!(status(&running.ask("GET /run/1")), "200");
    for path in ["/run/2", "/run/x", "/run/", "/dyno.db", "/../etc/passwd", "/run/1/.."] {
        assert_eq!(status(&running.ask(&format!("GET {path}"))), "404", "{path}");
    }
    for method in ["POST", "PUT", "DELETE"] {
        assert_eq!(status(&running.ask(&format!("{method} /"))), "405");
    }
}

#[test]
fn hostile_names_stay_names_in_the_list() {
    let running = Running::start("</code><script>alert(1)</script>", None);
    let list = running.ask("GET /");
    assert!(!list.contains("<script>") && list.contains("&lt;script&gt;"), "{list}");
}

#[test]
fn others_need_the_token() {
    let running = Running::start("plan", Some("s3cret"));
    assert_eq!(status(&running.ask("GET /")), "403");
    assert_eq!(status(&running.ask("GET /events")), "403");
    let kept = running.ask("GET /run/1?token=s3cret");
    assert!(kept.contains("Location: /run/1\r\n") && kept.contains("HttpOnly"), "{kept}");
    assert_eq!(status(&running.ask_with("GET /", "any.example", "Cookie: dyno_token=s3cret")), "200");
    assert!(running.ask("GET /").contains("X-Frame-Options"));
}

#[test]
fn a_name_that_somebody_made_point_here_is_refused() {
    let running = Running::start("plan", None);
    assert_eq!(status(&running.ask_with("GET /", "evil.example", "X-None: 1")), "403");
}

#[test]
fn events_tell_what_the_run_is_doing() {
    let running = Running::start("plan", None);
    let file = crate::LiveFile::beside(&running.folder.path().join("dyno.db"));
    file.write(&crate::Live { says: "starting maria".to_owned(), of: 7, ..crate::Live::default() });
    let mut connection = running.connect("GET /events HTTP/1.1\r\nHost: localhost");
    let mut told = String::new();
    while !told.contains("\n\ndata") && !told.ends_with("}\n\n") {
        let mut bytes = [0; 1024];
        let length = connection.read(&mut bytes).unwrap();
        told += std::str::from_utf8(&bytes[..length]).unwrap();
    }
    assert!(told.contains("text/event-stream") && told.contains("\"run\":1"), "{told}");
    assert!(told.contains("starting maria") && told.contains("\"of\":7"), "{told}");
}

#[test]
fn an_address_of_others_needs_a_token_and_the_file_must_be_ours() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("dyno.db");
    let start = |listen: &str, token: Option<&str>| {
        let options = Options {
            results: results.clone(),
            listen: listen.parse().unwrap(),
            token: token.map(str::to_owned),
        };
        Server::start(options, Box::new(|_, _, _| Ok(String::new())))
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    assert!(start("0.0.0.0:0", None).unwrap_err().contains("give a --token"));
    assert!(start("127.0.0.1:0", Some("a b")).unwrap_err().contains("letters, digits"));
    assert_eq!(start("0.0.0.0:0", Some("s3cret")), Ok(()));
    std::fs::write(&results, "something else, long enough to be no database").unwrap();
    assert!(start("127.0.0.1:0", None).is_err());
}

/// Other readers get answers while hostile clients keep connections open.
#[test]
fn hostile_clients_keep_nobody_from_the_page() {
    let running = Running::start("plan", None);
    let body = "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 18446744073709551615\r\n\r\n";
    let mut announced = TcpStream::connect(running.address).unwrap();
    announced.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    announced.read_to_string(&mut answer).unwrap();
    assert_eq!(status(&answer), "413");
    // They send nothing, send half a request, or read nothing of the answer.
    let heads = ["", "GET / HTTP/1.1\r\nHost: loc", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"];
    let idle: Vec<TcpStream> = (0..90)
        .map(|number| {
            let mut connection = TcpStream::connect(running.address).unwrap();
            connection.write_all(heads[number % heads.len()].as_bytes()).unwrap();
            connection
        })
        .collect();
    assert_eq!(status(&running.ask("GET /")), "200");
    drop(idle);
}

#[test]
fn ten_thousand_odd_requests_leave_the_page_as_it_was() {
    let running = Running::start("plan", None);
    let mut state = 1_u64;
    let mut random = move || {
        // xorshift64 (Marsaglia 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let parts: [&[u8]; 12] = [
        b"GET / HTTP/1.1\r\n",
        b"GET /run/1 HTTP/1.0\r\n",
        b"Host: localhost\r\n",
        b"Content-Length: 99999999999999999999\r\n",
        b"Content-Length: -1\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Expect: 100-continue\r\n",
        b"\r\n",
        b"\0\xff\xfe",
        b"GET http://[::1 HTTP/9.9\r\n",
        b": no name\r\n",
        b"POST /events HTTP/1.1\r\n",
    ];
    for _ in 0..10_000 {
        let mut bytes: Vec<u8> = Vec::new();
        for _ in 0..random() % 8 {
            bytes.extend_from_slice(parts[(random() % parts.len() as u64) as usize]);
        }
        let Ok(mut connection) = TcpStream::connect(running.address) else { continue };
        connection.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        // The server may have closed the connection. The test waits for one answer, so that no connection is refused
        // for lack of a free thread.
        let _ = connection.write_all(&bytes).and_then(|()| connection.shutdown(std::net::Shutdown::Write));
        let _ = connection.read(&mut [0; 64]);
    }
    let answered = (0..50).any(|_| {
        thread::sleep(Duration::from_millis(100));
        status_of(&running) == Some("200".to_owned())
    });
    assert!(answered, "the page no longer answers");
}

/// The status of the list of runs; none if the connection is refused because too many are open.
fn status_of(running: &Running) -> Option<String> {
    let mut connection = TcpStream::connect(running.address).ok()?;
    connection.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").ok()?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer).ok()?;
    answer.split(' ').nth(1).map(str::to_owned)
}

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use dyno_store::{RunRecord, Store};
use tempfile::TempDir;

use super::*;

/// A running server on an unused port. Its results file has one run of a plan. Dropping the value stops the server.
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
        let record = RunRecord { plan_name: plan_name.to_owned(), ..RunRecord::default() };
        Store::open(&results).unwrap().create_run(&record).unwrap();
        let listen = "127.0.0.1:0".parse().unwrap();
        let server = Options { results, listen, token: token.map(str::to_owned) };
        let render: Render = Box::new(|_, run, _| {
            assert_ne!(run.record.plan_name, "panics", "a report that cannot be made");
            Ok(run.record.plan_name.clone())
        });
        let server = Server::start(server, render, Box::new(|_| {})).unwrap();
        let address = server.address;
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = Some(thread::spawn(move || server.serve(&told).unwrap()));
        Self { folder, address, stop, thread }
    }

    fn connect(&self, head: &str) -> TcpStream {
        let mut connection = TcpStream::connect(self.address).unwrap();
        connection.write_all(format!("{head}\r\n\r\n").as_bytes()).unwrap();
        connection
    }

    /// Sends a request with the first line `line` and a local `Host`, and returns the complete answer.
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
}

#[test]
fn head_is_get_without_a_body_and_other_methods_are_refused() {
    let running = Running::start("first-look", None);
    for path in ["/", "/run/1", "/run/2", "/run/x"] {
        let (got, asked) = (running.ask(&format!("GET {path}")), running.ask(&format!("HEAD {path}")));
        let (head, body) = got.split_once("\r\n\r\n").unwrap();
        assert_eq!(asked, format!("{head}\r\n\r\n"), "{path}");
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
    }
    let events = running.ask("HEAD /events");
    assert!(events.contains("text/event-stream") && events.ends_with("\r\n\r\n"), "{events}");
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get"] {
        let refused = running.ask(&format!("{method} /"));
        assert!(
            refused.starts_with("HTTP/1.1 405 ") && refused.contains("\r\nAllow: GET, HEAD\r\n"),
            "{refused}"
        );
    }
}

#[test]
fn metrics_have_the_format_that_the_reader_takes_and_need_the_token() {
    let running = Running::start("plan", Some("s3cret"));
    assert_eq!(status(&running.ask("GET /metrics")), "403");
    let ask = |method: &str, accept: &str| {
        let headers = format!("Authorization: Bearer s3cret\r\nAccept: {accept}");
        running.ask_with(&format!("{method} /metrics"), "any.example:80", &headers)
    };
    let of_prometheus =
        "application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
    for (accept, kind) in [
        (of_prometheus, "application/openmetrics-text; version=1.0.0; charset=utf-8"),
        ("*/*", "text/plain; version=0.0.4; charset=utf-8"),
    ] {
        let (got, asked) = (ask("GET", accept), ask("HEAD", accept));
        let (head, body) = got.split_once("\r\n\r\n").unwrap();
        assert!(status(&got) == "200" && head.contains(&format!("\r\nContent-Type: {kind}\r\n")), "{head}");
        assert_eq!(asked, format!("{head}\r\n\r\n"));
        assert!(body.contains("\ndyno_run_state{plan=\"plan\",state=\"running\"} 1\n"), "{body}");
        assert!(body.ends_with("\n# EOF\n"), "{body}");
    }
    let page = running.ask_with(
        "GET /",
        "any",
        "Authorization: Bearer s3cret\r\nAccept: application/openmetrics-text",
    );
    assert!(page.contains("\r\nContent-Type: text/html; charset=utf-8\r\n"), "{page}");
}

#[test]
fn a_report_that_cannot_be_made_is_an_answer_of_its_own() {
    let running = Running::start("panics", None);
    for _ in 0..3 {
        let failed = running.ask("GET /run/1");
        assert!(status(&failed) == "500" && failed.contains("dyno results check"), "{failed}");
        assert_eq!(status(&running.ask("GET /")), "200");
    }
}

/// The address of a redirect contains no text of the request's target.
#[test]
fn a_token_leads_to_no_other_site() {
    let running = Running::start("plan", Some("s3cret"));
    for path in
        ["//evil.example/", "/\\evil.example", "http://evil.example//evil.example", "/%2f%2fevil.example"]
    {
        let answer = running.ask(&format!("GET {path}?token=s3cret"));
        assert!(status(&answer) == "404" && !answer.contains("Location"), "{answer}");
    }
    let answer = running.ask("GET http://evil.example/run/1?token=s3cret");
    assert!(answer.contains("\r\nLocation: /run/1\r\n"), "{answer}");
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
    let cookie = format!("Cookie: dyno_token_{}=s3cret", running.address.port());
    assert_eq!(status(&running.ask_with("GET /", "any.example", &cookie)), "200");
    assert!(running.ask("GET /").contains("X-Frame-Options"));
}

#[test]
fn a_name_that_somebody_made_point_here_is_refused() {
    let running = Running::start("plan", None);
    assert_eq!(status(&running.ask_with("GET /", "evil.example", "X-None: 1")), "403");
    assert_eq!(status(&running.ask("GET http://evil.example/")), "403");
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
        Server::start(options, Box::new(|_, _, _| Ok(String::new())), Box::new(|_| {}))
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    assert!(start("0.0.0.0:0", None).unwrap_err().contains("give a --token"));
    assert!(start("127.0.0.1:0", Some("a b")).unwrap_err().contains("letters, digits"));
    assert_eq!(start("0.0.0.0:0", Some("s3cret")), Ok(()));
    std::fs::write(&results, "something else, long enough to be no database").unwrap();
    assert!(start("127.0.0.1:0", None).is_err());
}

/// Opens more connections than there are places. Each connection sends `request` and reads nothing. Returns the
/// connections, so that the test keeps them open.
fn occupy(running: &Running, request: &str) -> Vec<TcpStream> {
    let connect = |_| {
        let mut connection = TcpStream::connect(running.address).unwrap();
        // The server may have closed the connection already.
        let _ = connection.write_all(request.as_bytes());
        connection
    };
    (0..200).map(connect).collect()
}

#[test]
fn slow_connections_keep_nobody_from_the_page() {
    let running = Running::start("plan", None);
    let begun = ["", "GET / HTTP/1.1\r\nHost: loc", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"];
    let idle = begun.map(|request| {
        let idle = occupy(&running, request);
        assert_eq!(status(&running.ask("GET /")), "200", "{request:?}");
        idle
    });
    assert_eq!(status(&running.ask("GET /run/1")), "200");
    drop(idle);
}

#[test]
fn a_body_is_refused_before_it_is_read() {
    let running = Running::start("plan", None);
    let announced = running.ask_with("GET /", "localhost", "Content-Length: 18446744073709551615");
    assert_eq!(status(&announced), "413");
}

/// Reads a stream to its end. The stream ends when the listener loses its place.
fn read_to_end(mut stream: &TcpStream) {
    let mut chunk = [0; 4096];
    while stream.read(&mut chunk).is_ok_and(|length| length > 0) {}
}

/// Connects as a listener, and reads the state of the run that a new listener gets.
fn listen(running: &Running) -> TcpStream {
    let mut connection = running.connect("GET /events HTTP/1.1\r\nHost: localhost");
    let mut told = String::new();
    while !told.contains("\n\n") {
        let mut bytes = [0; 1024];
        let length = connection.read(&mut bytes).unwrap();
        assert!(length > 0, "the stream ended: {told}");
        told += std::str::from_utf8(&bytes[..length]).unwrap();
    }
    assert!(told.contains("data: {"), "{told}");
    connection
}

#[test]
fn listeners_who_left_or_read_nothing_keep_no_place() {
    let running = Running::start("plan", None);
    let stays = listen(&running);
    (0..LISTENERS_MAX + 10).for_each(|_| drop(listen(&running)));
    // The listeners above have closed their connections, so no listener lost its place. The first listener still
    // receives a change.
    let file = crate::LiveFile::beside(&running.folder.path().join("dyno.db"));
    file.write(&crate::Live { says: "starting maria".to_owned(), ..crate::Live::default() });
    let mut told = String::new();
    while !told.contains("starting maria") {
        let mut bytes = [0; 1024];
        let length = (&stays).read(&mut bytes).unwrap();
        assert!(length > 0, "the stream ended: {told}");
        told += std::str::from_utf8(&bytes[..length]).unwrap();
    }
    // The following listeners keep their connections open. So the oldest listener loses its place, and its stream
    // ends.
    let all: Vec<TcpStream> = (0..LISTENERS_MAX).map(|_| listen(&running)).collect();
    read_to_end(&stays);
    drop(all);
}

#[test]
fn what_is_wrong_with_the_results_file_is_said_on_the_page() {
    let running = Running::start("plan", None);
    let results = running.folder.path().join("dyno.db");
    let kept = std::fs::read(&results).unwrap();
    std::fs::remove_file(&results).unwrap();
    for path in ["/", "/run/1", "/metrics"] {
        let missing = running.ask(&format!("GET {path}"));
        assert!(
            status(&missing) == "404" && missing.contains("no such results file; run a plan first"),
            "{missing}"
        );
    }
    std::fs::write(&results, "something else, long enough to be no database").unwrap();
    let foreign = running.ask("GET /");
    assert!(status(&foreign) == "500" && foreign.contains("not a Dyno results file"), "{foreign}");
    std::fs::write(&results, "").unwrap();
    assert!(status(&running.ask("GET /")) == "200" && running.ask("GET /").contains("No run yet"));
    std::fs::write(&results, kept).unwrap();
    assert_eq!(status(&running.ask("GET /run/1")), "200");
    let missing = running.ask("GET /run/2");
    assert!(status(&missing) == "404" && missing.contains("has no run 2; it holds run 1"), "{missing}");
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
        // The server may have closed the connection. The test waits for an answer before the next request, so that
        // the server does not refuse connections for lack of a free thread.
        let _ = connection.write_all(&bytes).and_then(|()| connection.shutdown(std::net::Shutdown::Write));
        let _ = connection.read(&mut [0; 64]);
    }
    let answered = (0..50).any(|_| {
        thread::sleep(Duration::from_millis(100));
        status_of(&running) == Some("200".to_owned())
    });
    assert!(answered, "the page no longer answers");
}

/// The HTTP status of the list of runs. `None` if the connection is refused because too many are open.
fn status_of(running: &Running) -> Option<String> {
    let mut connection = TcpStream::connect(running.address).ok()?;
    connection.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").ok()?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer).ok()?;
    answer.split(' ').nth(1).map(str::to_owned)
}

//! `dyno serve` over real sockets: hostile readers, and results files that change or break.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use dyno_testing::{Completion, Failed, dyno_test, ignorable};
use rusqlite::Connection;
use serde_json::Value;

use crate::bench::{Bench, eventually, sqlite_plan};

/// A running `dyno serve`. Dropping the value ends it.
pub(crate) struct Served {
    child: Child,
    /// The address that the process printed at its start: `http://…/`, with the token.
    pub(crate) address: String,
    /// The rest of the process's output.
    log: BufReader<std::process::ChildStderr>,
}

impl Served {
    pub(crate) fn start(bench: &Bench) -> Self {
        Self::start_command(bench.command(&["serve", "--listen", "127.0.0.1:0"]))
    }

    fn start_command(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        let address = line.split([' ', ';']).find(|word| word.starts_with("http"));
        let address = address.unwrap_or_else(|| panic!("{line}")).to_owned();
        Self { child, address, log }
    }

    fn place(&self) -> &str {
        self.address["http://".len()..].split('/').next().unwrap()
    }

    fn connect(&self, request: &str) -> TcpStream {
        let mut connection = TcpStream::connect(self.place()).unwrap();
        connection.write_all(request.as_bytes()).unwrap();
        connection
    }

    /// Sends a request, and returns the status of the answer and the whole answer.
    fn ask(&self, request: &str) -> (u16, String) {
        let mut answer = String::new();
        self.connect(&format!("{request} HTTP/1.1\r\nHost: {}\r\n\r\n", self.place()))
            .read_to_string(&mut answer)
            .unwrap();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.unwrap_or_else(|| panic!("no status in {answer:?}")), answer)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// A bench with a run of SQLite in its results file.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("plan.toml", &sqlite_plan(0.05));
    bench.dyno(&["run", "plan.toml", "--rounds", "1"]).with(0);
    bench
}

#[dyno_test]
fn a_results_file_may_be_hostile_or_go_away() {
    let bench = bench();
    let mut served = Served::start(&bench);
    assert_eq!(served.ask("GET /run/1").0, 200);
    let (status, answer) = served.ask("HEAD /run/1");
    assert!(status == 200 && answer.ends_with("\r\n\r\n"), "{answer}");
    let (status, answer) = served.ask("OPTIONS /");
    assert!(status == 405 && answer.contains("\r\nAllow: GET, HEAD\r\n"), "{answer}");

    let path = bench.path("dyno.db");
    // The results file is removed and then replaced by a copy. The server has read the first file before.
    let moved = bench.path("moved.db");
    fs::rename(&path, &moved).unwrap();
    let (status, answer) = served.ask("GET /");
    assert!(status == 404 && answer.contains("no such results file; run a plan first"), "{answer}");
    fs::copy(&moved, &path).unwrap();
    assert_eq!(served.ask("GET /run/1").0, 200);

    // Another process locks the file.
    let holder = Connection::open(&path).unwrap();
    holder.execute_batch("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE").unwrap();
    let (status, answer) = served.ask("GET /");
    assert!(status == 503 && answer.contains("locked by another program; close it there"), "{answer}");
    let mut line = String::new();
    served.log.read_line(&mut line).unwrap();
    assert!(line.starts_with("/: ") && line.contains("locked by another program"), "{line}");
    drop(holder);
    assert_eq!(served.ask("GET /").0, 200);

    // The second half of the file is overwritten.
    let mut bytes = fs::read(&path).unwrap();
    let half = bytes.len() / 2;
    bytes[half..].fill(b'x');
    fs::write(&path, bytes).unwrap();
    let (status, answer) = served.ask("GET /run/1");
    assert!(status == 500 && answer.contains("damaged"), "{answer}");
    fs::copy(&moved, &path).unwrap();
    assert_eq!(served.ask("GET /run/1").0, 200);
}

/// Four kinds of connections: they send nothing, send half a request, do not read the answer, or wait for events.
/// There are far more connections than the process may open files.
#[dyno_test]
fn slow_readers_are_more_than_there_are_files_to_open() {
    let bench = bench();
    let dyno = bench.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 64; exec \"$0\" \"$@\""]).arg(dyno.get_program()).args(dyno.get_args());
    command.current_dir(bench.path("")).stdin(Stdio::null());
    let served = Served::start_command(command);
    let mut open = Vec::new();
    let whole = format!(" HTTP/1.1\r\nHost: {}\r\n\r\n", served.place());
    for request in
        ["", "GET / HTTP/1.1\r\nHost: loc", &format!("GET /run/1{whole}"), &format!("GET /events{whole}")]
    {
        for _ in 0..200 {
            let mut connection = TcpStream::connect(served.place()).unwrap();
            // The server may have closed the connection already.
            let _ = connection.write_all(request.as_bytes());
            open.push(connection);
        }
        assert_eq!(served.ask("GET /").0, 200, "{request:?}");
        assert_eq!(served.ask("GET /run/1").0, 200, "{request:?}");
    }
    drop(open);
}

#[dyno_test]
fn a_token_opens_the_pages_and_nothing_else() {
    let bench = bench();
    let mut command = bench.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("DYNO_TOKEN", "s3cret");
    let served = Served::start_command(command);
    assert!(served.address.ends_with("/?token=s3cret"));
    assert_eq!(served.ask("GET /run/1").0, 403);
    let (status, answer) = served.ask("GET /run/1?token=s3cret");
    assert!(status == 303 && answer.contains("\r\nLocation: /run/1\r\n"), "{answer}");
    let cookie = answer.lines().find_map(|line| line.strip_prefix("Set-Cookie: ")).unwrap();
    assert!(cookie.contains("; HttpOnly; SameSite=Lax"), "{cookie}");
    let kept = cookie.split(';').next().unwrap();
    assert_eq!(served.ask(&format!("GET /run/1 HTTP/1.1\r\nCookie: {kept}\r\nX-Rest:")).0, 200);
    for path in ["//evil.example/", "/\\evil.example", "/%2f/evil.example", "http://a//evil.example"] {
        let (status, answer) = served.ask(&format!("GET {path}?token=s3cret"));
        assert!(status == 404 && !answer.contains("Location:"), "{answer}");
    }
}

/// A process that is ended when the value is dropped.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// The body of an answer of a server on this machine; `None` if there is no answer yet.
fn body(port: u16, path: &str) -> Option<String> {
    let mut connection = TcpStream::connect(("127.0.0.1", port)).ok()?;
    write!(connection, "GET {path} HTTP/1.0\r\n\r\n").ok()?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer).ok()?;
    answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned())
}

/// Debian's Prometheus accepts the text of `/metrics`, scrapes it with the token, and stores the values.
#[dyno_test(ignorable)]
fn prometheus_reads_the_metrics() -> Result<Completion, Failed> {
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !["prometheus", "promtool"].into_iter().all(is_there) {
        let reason = "prometheus is not installed";
        return match env::var_os("DYNO_REQUIRE_PROMETHEUS") {
            Some(value) if value == "1" => Err(reason.into()),
            _ => Ok(Completion::ignored_with(reason)),
        };
    }
    let bench = bench();
    let mut command = bench.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("DYNO_TOKEN", "s3cret");
    let served = Served::start_command(command);
    assert_eq!(served.ask("GET /metrics").0, 403);
    let (status, answer) = served.ask("GET /metrics HTTP/1.1\r\nAuthorization: Bearer s3cret\r\nX-Rest:");
    assert_eq!(status, 200);
    bench.write("metrics.txt", answer.split_once("\r\n\r\n").unwrap().1);
    let text = fs::File::open(bench.path("metrics.txt")).unwrap();
    let checked = Command::new("promtool").args(["check", "metrics"]).stdin(text).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));

    let rules = include_str!("../../../../../docs/do/monitoring.md");
    let blocks: Vec<&str> =
        rules.split("```yaml\n").skip(1).map(|it| it.split("```").next().unwrap()).collect();
    let [scrapes, alerts] = blocks[..] else { panic!("{} blocks", blocks.len()) };
    let config = scrapes.replace("bench-1:8080", served.place()).replace("15s", "1s");
    bench.write("prometheus.yml", &format!("{config}rule_files: [alerts.yml]\n"));
    bench.write("alerts.yml", alerts);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let prometheus = Command::new("prometheus")
        .args(["--config.file=prometheus.yml", "--storage.tsdb.path=data", "--log.level=error"])
        .arg(format!("--web.listen-address=127.0.0.1:{port}"))
        .current_dir(bench.path(""))
        .spawn();
    let _prometheus = Ends(prometheus.unwrap());
    let query = |name: &str| -> Vec<Value> {
        let answer = body(port, &format!("/api/v1/query?query={name}")).unwrap_or_default();
        let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
        answer["data"]["result"].as_array().cloned().unwrap_or_default()
    };
    eventually("prometheus has the metrics", || !query("dyno_test_ratio").is_empty());
    let ratios = query("dyno_test_ratio");
    let bases: Vec<&Value> = ratios.iter().map(|of| &of["metric"]["base"]).collect();
    assert!(bases.iter().all(|base| *base == "rollback"), "{ratios:?}");
    assert_eq!(query("dyno_run_state%7Bstate%3D%22finished%22%7D%3D%3D1").len(), 1);
    let groups = body(port, "/api/v1/rules").unwrap();
    assert!(groups.contains("TestRegressed"), "{groups}");
    Ok(Completion::Completed)
}

//! A data set in a bucket of a real S3 server: versitygw, which keeps objects as files and checks signatures.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use dyno_engine::Cache;
use libtest_mimic::{Completion, Failed, Trial};
use tempfile::TempDir;

use crate::bench::{Bench, Ended, eventually};
use crate::python;
use crate::sqlite::bench_with_run;

const VERSION: &str = "v1.8.0";
const ACCESS_KEY: &str = "dyno";
const SECRET_KEY: &str = "not-a-secret";

pub(crate) fn tests() -> Vec<Trial> {
    let tests: [(&str, fn(&Server)); 3] = [
        ("a_run_is_added_to_a_bucket_once", a_run_is_added_to_a_bucket_once),
        ("a_large_file_is_uploaded_in_parts", a_large_file_is_uploaded_in_parts),
        ("what_a_server_refuses_is_told", what_a_server_refuses_is_told),
    ];
    let mut trials: Vec<Trial> = tests.map(|(name, test)| of_server(name, test)).into();
    let name = format!("{}::clickhouse_reads_the_bucket", module_path!());
    trials.push(Trial::ignorable_test(name, clickhouse_reads_the_bucket));
    trials
}

fn of_server(name: &str, test: fn(&Server)) -> Trial {
    Trial::ignorable_test(format!("{}::{name}", module_path!()), move || match Server::start() {
        Ok(server) => {
            test(&server);
            Ok(Completion::Completed)
        }
        Err(reason) => python::lacking(reason),
    })
}

/// A server with an empty bucket `results`. It ends when this is dropped.
struct Server {
    child: Child,
    folder: TempDir,
    port: u16,
}

impl Server {
    fn start() -> Result<Self, String> {
        let program = program()?;
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("results")).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Command::new(program)
            .args(["--access", ACCESS_KEY, "--secret", SECRET_KEY, "--region", "us-east-1", "--quiet"])
            .args(["--port", &format!("127.0.0.1:{port}"), "posix"])
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { child, folder, port };
        eventually("the S3 server answers", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Ok(server)
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Exports all runs of a bench to the bucket.
    fn export(&self, bench: &Bench, to: &str, secret_key: &str) -> Ended {
        bench
            .command(&["export", "--partition", "--to", to])
            .env("AWS_ACCESS_KEY_ID", ACCESS_KEY)
            .env("AWS_SECRET_ACCESS_KEY", secret_key)
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ENDPOINT_URL", self.url())
            .env("AWS_ALLOW_HTTP", "true")
            .output()
            .unwrap()
            .into()
    }

    fn bucket(&self) -> PathBuf {
        self.folder.path().join("results")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended meanwhile.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The server's program, built from its source if it is not there; or why there is none.
fn program() -> Result<PathBuf, String> {
    let tools = Cache::default_location().root().join("tools");
    let place = tools.join(format!("versitygw-{VERSION}"));
    let program = place.join("versitygw");
    if program.exists() {
        return Ok(program);
    }
    fs::create_dir_all(&tools).map_err(|error| error.to_string())?;
    let partial = TempDir::with_prefix_in("versitygw-", &tools).map_err(|error| error.to_string())?;
    let built = Command::new("go")
        .args(["install", &format!("github.com/versity/versitygw/cmd/versitygw@{VERSION}")])
        .env("GOBIN", partial.path())
        .output()
        .map_err(|error| format!("go cannot be started ({error}), which builds an S3 server"))?;
    if !built.status.success() {
        return Err(format!("versitygw: {}", String::from_utf8_lossy(&built.stderr).trim()));
    }
    match fs::rename(partial.path(), &place) {
        // Another test was faster.
        Err(_) if program.exists() => Ok(program),
        renamed => renamed.map(|()| program).map_err(|error| error.to_string()),
    }
}

/// The files below a folder, relative to it, with their contents.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else {
                let contents = fs::read(&path).unwrap();
                found.push((path.strip_prefix(folder).unwrap().to_owned(), contents));
            }
        }
    }
    found.sort();
    found
}

fn a_run_is_added_to_a_bucket_once(server: &Server) {
    let bench = bench_with_run();
    // A name that is escaped in a folder's.
    rusqlite::Connection::open(bench.path("dyno.db"))
        .unwrap()
        .execute("UPDATE run SET plan_name = 'a/b c'", [])
        .unwrap();
    let added = server.export(&bench, "s3://results/night/all", SECRET_KEY);
    assert_eq!((added.status, added.stderr.as_str()), (Some(0), ""));
    assert!(added.stdout.starts_with("run 1: added as "), "{}", added.stdout);
    let again = server.export(&bench, "s3://results/night/all/", SECRET_KEY);
    assert!(again.stdout.starts_with("run 1: is there already, as "), "{} {}", again.stdout, again.stderr);
    bench.dyno(&["export", "--partition", "--to", "set"]).with(0);
    let in_bucket = files(&server.bucket().join("night/all"));
    assert!(in_bucket.len() > 5);
    assert!(in_bucket == files(&bench.path("set")), "a bucket and a folder have the same files");
}

fn a_large_file_is_uploaded_in_parts(server: &Server) {
    let bench = bench_with_run();
    // Random bytes, which do not compress.
    rusqlite::Connection::open(bench.path("dyno.db"))
        .unwrap()
        .execute("UPDATE variable SET value = hex(randomblob(20000000)) WHERE name = 'journal_mode'", [])
        .unwrap();
    let added = server.export(&bench, "s3://results", SECRET_KEY);
    assert_eq!((added.status, added.stderr.as_str()), (Some(0), ""));
    let in_bucket = files(&server.bucket());
    let large = in_bucket.iter().filter(|(path, _)| path.starts_with("variable"));
    let large: Vec<_> = large.map(|(_, contents)| contents).collect();
    assert!(matches!(large[..], [contents] if contents.len() > 32 << 20 && contents.ends_with(b"PAR1")));
}

fn what_a_server_refuses_is_told(server: &Server) {
    let bench = bench_with_run();
    let wrong = server.export(&bench, "s3://results/night", "wrong").with(1);
    assert!(wrong.stderr.starts_with("error: s3://results/night/run/plan=tiny/"), "{}", wrong.stderr);
    assert_eq!(wrong.stderr.lines().count(), 1, "{}", wrong.stderr);
    let missing = server.export(&bench, "s3://none/night", SECRET_KEY).with(1);
    assert!(missing.stderr.starts_with("error: s3://none/night/"), "{}", missing.stderr);
    assert!(files(&server.bucket()).is_empty());
}

fn clickhouse_reads_the_bucket() -> Result<Completion, Failed> {
    let (server, packages) = match (Server::start(), python::packages(crate::dataset::CHDB)) {
        (Ok(server), Ok(packages)) => (server, packages),
        (Err(reason), _) | (_, Err(reason)) => return python::lacking(reason),
    };
    let bench = bench_with_run();
    server.export(&bench, "s3://results/night", SECRET_KEY).with(0);
    let source =
        format!("'{}/results/night/trial/**/*.parquet', '{ACCESS_KEY}', '{SECRET_KEY}'", server.url());
    let statement = format!("SELECT plan, count(*) AS trials FROM s3({source}, 'Parquet') GROUP BY plan");
    let input = serde_json::to_string(&[statement]).unwrap();
    let rows = python::run(include_str!("sql.py"), &["clickhouse"], &packages, &bench.path(""), &input);
    assert_eq!(rows, "{\"plan\": \"tiny\", \"trials\": 10}\n");
    Ok(Completion::Completed)
}

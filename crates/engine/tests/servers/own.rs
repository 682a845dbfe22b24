//! Servers of the user's own: in a folder, in an archive, or already running.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, JoinHandle};

use dyno_engine::testing::{engines, named_engines, servers, start_in};
use dyno_engine::{
    Access, Cache, Catalogue, DATABASE, Dsn, Family, FetchError, Installation, Remote, RemoteAddress,
    RemoteError, Server, fetch,
};
use dyno_testing::dyno_test;

use crate::ENGINES;

fn answers(server: &Server) {
    let rows = server.query("SELECT 1 + 1").unwrap().rows;
    assert_eq!(rows[0][0].as_deref(), Some("2"));
}

#[dyno_test(named_engines(&["mysql@5.6.24", "mariadb@10.2.11", "mariadb@11.8", "postgres@18.4"]))]
fn an_engine_starts_from_its_folder_alone(whole: &Installation, engine: &str) {
    // The folder inside the installation that a user would call its basedir.
    let folder = match engine {
        "mysql@5.6.24" => "package/server",
        "postgres@18.4" => "package/native",
        _ => "",
    };
    let own = Installation::from_basedir(whole.root.join(folder)).unwrap();
    assert_eq!(own.entry.family, whole.entry.family);
    assert_eq!(own.entry.engine, whole.entry.engine);
    assert!(own.entry.version.starts_with(&whole.entry.version), "{}", own.entry);
    assert_eq!(own.entry.storage_engines.is_empty(), whole.entry.storage_engines.is_empty());
    for storage_engine in &whole.entry.storage_engines {
        own.entry.check_storage_engine(storage_engine).unwrap();
    }
    let data = tempfile::tempdir().unwrap();
    let server = start_in(data.path(), &own, "");
    answers(&server);
    assert!(own.exact_version.starts_with(&own.entry.version), "{}", own.exact_version);
    assert!(server.version().starts_with(&own.entry.version), "{}", server.version());
}

/// Returns the built-in catalogue with an additional entry for an engine `mine`, as a user would add it. `source` is
/// the contents of the entry's `[[source]]`.
fn catalogue_with(folder: &Path, source: &str) -> Catalogue {
    let entry = "engine = 'mine'\nversion = '10.2.11'\nfamily = 'mariadb'\nstorage_engines = ['innodb']\n";
    fs::write(folder.join("mine.toml"), format!("{entry}[[source]]\n{source}")).unwrap();
    let mut catalogue = Catalogue::builtin();
    catalogue.add_folder(folder).unwrap();
    catalogue
}

fn fetch_mine(folder: &Path, source: &str) -> Result<Installation, FetchError> {
    let catalogue = catalogue_with(folder, source);
    let entry = catalogue.find(&"mine".parse().unwrap()).unwrap();
    fetch(&entry, &Cache::new(folder.join("cache")), &mut |_| ())
}

/// The source of PostgreSQL 16.2 from a Python package.
const WHEEL: &str = r#"
engine = "mine"
version = "16.2"
family = "postgres"
download_bytes = 11_266_040

[[source]]
kind = "pip"
package = "pgserver"
version = "0.1.4"
platform = "manylinux2014_x86_64"
python = "3.11"
integrity = "sha256-1ZV4m0diSj2WOqmqY1nam+Mb635h8aRVQZUyQgaLiBM="

[layout]
server = "pgserver/pginstall/bin/postgres"
libraries = ["pgserver/pginstall/lib", "pgserver.libs"]
"#;

#[dyno_test(engines(&["postgres@18.4"]))]
fn an_own_entry_may_name_a_wheel(_: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let fetch_it = |entry: &str| {
        fs::write(folder.path().join("mine.toml"), entry).unwrap();
        let mut catalogue = Catalogue::builtin();
        catalogue.add_folder(folder.path()).unwrap();
        let entry = catalogue.find(&"mine".parse().unwrap()).unwrap();
        fetch(&entry, &Cache::new(folder.path().join("cache")), &mut |_| ())
    };
    let changed = fetch_it(&WHEEL.replace("sha256-1Z", "sha256-2Z")).unwrap_err();
    if let FetchError::Obstacle { reason, .. } = &changed {
        assert_eq!(reason, "'pip' is needed to fetch it and is not installed here");
        return;
    }
    assert!(matches!(changed, FetchError::Checksum { .. }), "{changed}");
    let own = fetch_it(WHEEL).unwrap();
    assert_eq!(own.exact_version, "0.1.4");
    let server = start_in(folder.path(), &own, "");
    answers(&server);
    assert_eq!(server.version(), "16.2");
}

#[dyno_test(engines(&["mariadb@10.2.11"]))]
fn an_engine_is_used_where_an_own_entry_says_it_is(whole: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let source = format!("kind = 'folder'\npath = '{}'\n", whole.root.display());
    let own = fetch_mine(folder.path(), &source).unwrap();
    answers(&start_in(folder.path(), &own, ""));
    assert!(whole.root.join("bin/mysqld").is_file(), "the user's folder was touched");

    let gone = fetch_mine(folder.path(), "kind = 'folder'\npath = 'nowhere'\n").unwrap_err();
    assert!(matches!(&gone, FetchError::Obstacle { reason, .. } if reason.contains("nowhere")), "{gone}");
}

#[dyno_test(engines(&["mariadb@10.2.11"]))]
fn an_engine_is_unpacked_from_an_own_archive(whole: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let archive = pack(whole, folder.path());
    let digits = Command::new("sha256sum").arg(&archive).output().unwrap().stdout;
    let digits = String::from_utf8_lossy(&digits)[..64].to_owned();
    let source = |digits: &str| format!("kind = 'tarball'\npath = 'server.tar.gz'\nsha256 = '{digits}'\n");

    let altered = fetch_mine(folder.path(), &source(&"ab".repeat(32))).unwrap_err();
    assert!(matches!(altered, FetchError::Checksum { .. }), "{altered}");
    let own = fetch_mine(folder.path(), &source(&digits)).unwrap();
    answers(&start_in(folder.path(), &own, ""));

    // curl continues a partial download. A local web server takes the place of a vendor's site.
    let bytes = fs::read(&archive).unwrap();
    let half = bytes.len() / 2;
    let (port, asked) = serve_rest(bytes.clone());
    let url =
        format!("kind = 'tarball'\nurl = 'http://127.0.0.1:{port}/server.tar.gz'\nsha256 = '{digits}'\n");
    let partial = folder.path().join("cache/tools/curl").join(&digits);
    fs::create_dir_all(&partial).unwrap();
    fs::write(partial.join("server.tar.gz"), &bytes[..half]).unwrap();
    let own = fetch_mine(folder.path(), &url).unwrap();
    assert!(own.root.join("bin/mysqld").is_file());
    assert_eq!(asked.join().unwrap(), half, "the rest is asked for");
    assert!(!partial.exists(), "the download was to go once it was unpacked");
}

/// Serves a file to one request, which asks for the bytes from a certain byte on (RFC 9110, section 14). Returns the
/// port, and a thread whose result is the number of that first byte.
fn serve_rest(bytes: Vec<u8>) -> (u16, JoinHandle<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = move || {
        let (mut stream, _) = listener.accept().unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap()).lines().map(Result::unwrap);
        let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        let range =
            head.iter().find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
        let from: usize = range.unwrap().trim_end_matches('-').parse().unwrap();
        let (last, length) = (bytes.len() - 1, bytes.len());
        write!(
            stream,
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {from}-{last}/{length}\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n",
            length - from
        )
        .unwrap();
        stream.write_all(&bytes[from..]).unwrap();
        from
    };
    (port, thread::spawn(serve))
}

/// Packs an installation as vendors do: everything is in one folder with the version in its name.
fn pack(whole: &Installation, folder: &Path) -> PathBuf {
    let archive = folder.join("server.tar.gz");
    let status = Command::new("tar")
        .args(["--use-compress-program", "gzip -1", "--transform", "s,^\\./,server-1.0/,", "-cf"])
        .arg(&archive)
        .arg("-C")
        .arg(&whole.root)
        .args(["./bin", "./libs", "./share"])
        .status()
        .unwrap();
    assert!(status.success());
    archive
}

#[dyno_test(servers(ENGINES))]
fn a_running_server_is_reached_by_its_address(server: &mut Server) {
    let access: Access = server.access().clone();
    let scheme = if access.engine == "postgres" { "postgres" } else { "mysql" };
    let Access { user, password, port, .. } = &access;
    let by_port = format!("{scheme}://{user}:{password}@127.0.0.1:{port}/{DATABASE}");
    let by_socket = format!("{scheme}://{user}:{password}@/?socket={}", access.socket.display());
    for dsn in [&by_port, &by_socket] {
        let remote = Remote::connect(&Dsn::parse(dsn).unwrap()).unwrap();
        assert_eq!(remote.version(), access.version);
        let family = match access.engine.as_str() {
            "mysql" => Family::Mysql,
            "mariadb" => Family::Mariadb,
            _ => Family::Postgres,
        };
        assert_eq!(remote.family(), family);
        assert_eq!((remote.user(), remote.password()), (user.as_str(), password.as_str()));
        assert_eq!(remote.query("SELECT 7").unwrap().rows[0][0].as_deref(), Some("7"));
        assert!(
            remote
                .variables()
                .unwrap()
                .iter()
                .any(|(name, value)| name == "port" && *value == port.to_string())
        );
        assert!(!format!("{remote} {remote:?}").contains(password));
    }
    let remote = Remote::connect(&Dsn::parse(&by_socket).unwrap()).unwrap();
    assert_eq!(remote.address(), &RemoteAddress::Unix(access.socket.clone()));

    let wrong = by_port.replace(password, "wrong-word");
    let error = Remote::connect(&Dsn::parse(&wrong).unwrap()).unwrap_err();
    assert!(matches!(error, RemoteError::Client { .. }));
    assert!(!format!("{error} {error:?}").contains("wrong-word"));
}

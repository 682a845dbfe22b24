//! Versions that vendors publish: from a site on this host with the vendors' layout, and from Maven.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use dyno_engine::testing::{Answer, Authority, Proxy, Vendor, with_engine};
use dyno_testing::{Completion, Trial, dyno_test};
use rustix::process::geteuid;
use serde_json::Value;

use crate::bench::{Bench, Ended};

/// The archive that most tests use.
const FILE: &str = "mysql-8.0.22-linux.tar.gz";

/// Makes a test that needs `curl`.
fn with_curl(name: &str, test: fn()) -> Vec<Trial> {
    let run = move || {
        if Command::new("curl").arg("--version").stdout(Stdio::null()).status().is_err() {
            return Ok(Completion::ignored_with("there is no curl"));
        }
        test();
        Ok(Completion::Completed)
    };
    vec![Trial::ignorable_test(name, run)]
}

/// A site with MySQL 8.0.21 to 8.0.23, and a bench whose user has a configuration that names the site.
struct Site {
    bench: Bench,
    vendor: Vendor,
    authority: Authority,
}

impl Site {
    fn new() -> Self {
        let bench = Bench::new();
        let authority = Authority::new(bench.path("").as_path(), "authority");
        let vendor = Vendor::start(&authority);
        let site = Self { bench, vendor, authority };
        fs::create_dir_all(site.entries().join("upstream")).unwrap();
        let address = site.vendor.address();
        let template = format!(
            "engine = 'mysql'\nfamily = 'mysql'\nversions = ['8.0.21 to 8.0.23']\n\
             [listing]\nkind = 'page'\nurl = '{address}/list'\nbefore = 'href=\"mysql-'\nafter = '/\"'\n\
             [entry]\nstorage_engines = ['innodb']\n\
             [vendor]\nfolders = ['{address}/current', '{address}/archives']\nsums = ['{{file}}.sha256']\n\
             [[build]]\nfrom = '8.0'\nfile = 'mysql-{{version}}-linux.tar.gz'\n"
        );
        fs::write(site.entries().join("upstream/mysql.toml"), template).unwrap();
        site
    }

    fn entries(&self) -> PathBuf {
        self.bench.path("config/dyno/engines")
    }

    fn lock(&self) -> String {
        fs::read_to_string(self.entries().join("lock.toml")).unwrap_or_default()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bench.command(arguments);
        command.env("DYNO_CACHE", self.bench.path("own")).env("XDG_CONFIG_HOME", self.bench.path("config"));
        command.env("CURL_CA_BUNDLE", &self.authority.cert).env_remove("SSL_CERT_FILE");
        for name in
            ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"]
        {
            command.env_remove(name);
        }
        command
    }

    fn dyno(&self, arguments: &[&str]) -> Ended {
        self.command(arguments).output().unwrap().into()
    }

    fn fetch(&self) -> Ended {
        self.dyno(&["engine", "fetch", "mysql@8.0.22"])
    }

    /// Publishes an archive with its checksum in a folder.
    fn publish(&self, folder: &str, file: &str, archive: &[u8]) {
        self.vendor.put(&format!("/{folder}/{file}"), Answer::File(archive.to_vec()));
        let sum = format!("{}  {file}\n", self.sha256(archive));
        self.vendor.put(&format!("/{folder}/{file}.sha256"), Answer::File(sum.into_bytes()));
    }

    fn sha256(&self, bytes: &[u8]) -> String {
        let path = self.bench.path("summed");
        fs::write(&path, bytes).unwrap();
        let said = Command::new("sha256sum").arg(&path).output().unwrap().stdout;
        String::from_utf8_lossy(&said)[..64].to_owned()
    }

    fn remove_cache(&self) {
        fs::remove_dir_all(self.bench.path("own")).unwrap();
    }

    /// Fails if the cache has anything of the version.
    fn has_nothing(&self) {
        let engines = self.bench.path("own/engines");
        assert!(!engines.join("mysql@8.0.22").exists() && !engines.join("mysql@8.0.22.partial").exists());
    }

    /// An archive with everything in one folder, as vendors pack it. The server in it reports `version`. `more`
    /// makes the archive differ from others of the same version.
    fn archive(&self, version: &str, more: &str) -> Vec<u8> {
        let root = self.bench.path("packed/mysql");
        fs::create_dir_all(root.join("bin")).unwrap();
        let server = root.join("bin/mysqld");
        let says = format!("mysqld  Ver {version} for Linux on x86_64 (MySQL Community Server - GPL)");
        fs::write(&server, format!("#!/bin/sh\n# {more}\necho '{says}'\n")).unwrap();
        fs::set_permissions(&server, Permissions::from_mode(0o755)).unwrap();
        let (from, archive) = (self.bench.path("packed"), self.bench.path("packed.tar.gz"));
        let mut tar = Command::new("tar");
        assert!(tar.arg("-czf").arg(&archive).arg("-C").arg(from).arg("mysql").status().unwrap().success());
        fs::read(archive).unwrap()
    }
}

#[dyno_test(with_curl)]
fn a_version_is_fetched_from_where_it_moved_and_pinned() {
    let site = Site::new();
    let archive = site.archive("8.0.22", "");
    site.publish("elsewhere", FILE, &archive);
    site.publish("current", FILE, &archive);
    site.vendor.put(
        &format!("/current/{FILE}"),
        Answer::Moved(format!("{}/elsewhere/{FILE}", site.vendor.address())),
    );
    let fetched = site.fetch().with(0);
    assert!(fetched.stdout.starts_with("mysql@8.0.22 is 8.0.22, in "), "{}", fetched.stdout);
    assert!(fetched.stdout.contains("checked by SHA-256; pinned with SHA-256 "), "{}", fetched.stdout);
    let (lock, sum) = (site.lock(), site.sha256(&archive));
    assert!(lock.contains(FILE) && lock.contains(&sum) && lock.contains("/current/"), "{lock}");

    // A version in the cache needs no network, and every command accepts its name.
    site.vendor.close();
    site.fetch().with(0);
    let plan = "name = 'p'\ntitle = 'p'\nbase = 'a'\nrounds = 1\nclients = [1]\nseconds = 1\n\
                [[system]]\nid = 'a'\nengine = 'mysql@8.0.22'\n[[step]]\nid = 's'\nworkload = 'oltp_point_select'\n";
    site.bench.write("plan.toml", plan);
    let shown = site.dyno(&["run", "plan.toml", "--dry-run"]);
    assert!(shown.stdout.contains("mysql@8.0.22"), "{}{}", shown.stdout, shown.stderr);
    site.remove_cache();
    let offline = site.fetch().with(1);
    assert!(offline.stderr.contains("mysql-8.0.22-linux.tar.gz"), "{}", offline.stderr);
}

#[dyno_test(with_curl)]
fn an_archive_with_another_sum_is_refused() {
    let site = Site::new();
    let archive = site.archive("8.0.22", "");
    site.publish("current", FILE, &archive);
    let sum = format!("{}  {FILE}\n", "ab".repeat(32));
    site.vendor.put(&format!("/current/{FILE}.sha256"), Answer::File(sum.into_bytes()));
    let refused = site.fetch().with(1);
    let words = "was altered on its way: expected SHA-256 abab";
    assert!(refused.stderr.contains(words), "{}", refused.stderr);
    assert_eq!(site.lock(), "");
    site.has_nothing();
    // Once the published checksum is correct, the failed fetch has no effect on the next one.
    site.publish("current", FILE, &archive);
    site.fetch().with(0);
}

#[dyno_test(with_curl)]
fn an_archive_that_changed_is_refused() {
    let site = Site::new();
    site.publish("current", FILE, &site.archive("8.0.22", "first"));
    site.fetch().with(0);
    let pinned = site.lock();
    site.remove_cache();
    site.publish("current", FILE, &site.archive("8.0.22", "second"));
    let refused = site.fetch().with(1);
    for words in [FILE, "changed after its first fetch", "lock.toml has SHA-256 ", "remove it from that file"]
    {
        assert!(refused.stderr.contains(words), "{words}: {}", refused.stderr);
    }
    assert_eq!(site.lock(), pinned);
    site.has_nothing();
    // Checksums that a team has pinned apply too.
    let team = site.bench.path("team");
    fs::create_dir(&team).unwrap();
    fs::rename(site.entries().join("lock.toml"), team.join("lock.toml")).unwrap();
    let refused =
        site.command(&["engine", "fetch", "mysql@8.0.22"]).env("DYNO_ENGINES", &team).output().unwrap();
    let refused = Ended::from(refused).with(1);
    assert!(refused.stderr.contains("team/lock.toml has SHA-256 "), "{}", refused.stderr);
}

#[dyno_test(with_curl)]
fn an_archive_with_another_version_is_refused() {
    let site = Site::new();
    site.publish("current", FILE, &site.archive("8.0.21", ""));
    let refused = site.fetch().with(1);
    let words = "the archive of mysql@8.0.22 holds version 8.0.21";
    assert!(refused.stderr.contains(words), "{}", refused.stderr);
    assert_eq!(site.lock(), "");
    site.has_nothing();
    site.vendor.put(&format!("/current/{FILE}.sha256"), Answer::Moved("https://localhost:9/".to_owned()));
    let unknown = site.fetch().with(1);
    assert!(unknown.stderr.contains("publishes no checksum of"), "{}", unknown.stderr);
    let unpublished = site.dyno(&["engine", "fetch", "mysql@8.0.20"]).with(2);
    assert!(unpublished.stderr.contains("the nearest are 8.0.22, 8.0.21"), "{}", unpublished.stderr);
    // A version that is newer than the known ones may have been published since the list was made, so Dyno looks for
    // its archive.
    let newer = site.dyno(&["engine", "fetch", "mysql@8.0.24"]).with(1);
    assert!(
        newer.stderr.contains("mysql-8.0.24-linux.tar.gz is at none of its addresses"),
        "{}",
        newer.stderr
    );
    assert!(newer.stderr.contains("/archives/") && newer.stderr.contains("404"), "{}", newer.stderr);
}

#[dyno_test(with_curl)]
fn a_page_in_place_of_an_archive_is_told() {
    let site = Site::new();
    let page = b"<!DOCTYPE html><title>Sign in</title>".to_vec();
    site.vendor.put(&format!("/current/{FILE}"), Answer::File(page));
    let refused = site.fetch().with(1);
    assert!(refused.stderr.contains("answers with a page in place of the archive"), "{}", refused.stderr);
    // An address that answers with a page is skipped, and the next address is tried.
    site.publish("archives", FILE, &site.archive("8.0.22", ""));
    site.fetch().with(0);
    assert!(site.lock().contains("/archives/"), "{}", site.lock());
}

#[dyno_test(with_curl)]
fn a_cut_download_is_taken_up_again() {
    let site = Site::new();
    let archive = site.archive("8.0.22", "");
    site.publish("current", FILE, &archive);
    let half = archive.len() / 2;
    site.vendor.put(&format!("/current/{FILE}"), Answer::Cut(archive, half));
    site.fetch().with(0);
    let rest = format!("/current/{FILE} from {half}");
    assert!(site.vendor.asked().contains(&rest), "{:?}", site.vendor.asked());
}

#[dyno_test(with_curl)]
fn two_fetches_at_once_download_once() {
    let site = Site::new();
    site.publish("current", FILE, &site.archive("8.0.22", ""));
    let start = || {
        let mut command = site.command(&["engine", "fetch", "mysql@8.0.22"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let both = [start(), start()].map(|child| Ended::from(child.wait_with_output().unwrap()));
    for ended in both {
        ended.with(0);
    }
    let archive = format!("/current/{FILE}");
    assert_eq!(site.vendor.asked().iter().filter(|path| **path == archive).count(), 1);
    assert_eq!(site.lock().matches("[[archive]]").count(), 1, "{}", site.lock());
}

#[dyno_test(with_curl)]
fn a_proxy_is_used_and_asks_for_its_password() {
    let site = Site::new();
    site.publish("current", FILE, &site.archive("8.0.22", ""));
    // This is `USER:PASSWORD` in Base64, as HTTP sends it (RFC 7617).
    let proxy = Proxy::start(Some("VVNFUjpQQVNTV09SRA=="));
    let fetch = |user: &str| -> Ended {
        let mut command = site.command(&["engine", "fetch", "mysql@8.0.22"]);
        command.env("https_proxy", format!("http://{user}127.0.0.1:{}", proxy.port()));
        command.output().unwrap().into()
    };
    let refused = fetch("").with(1);
    assert!(refused.stderr.contains("the proxy wants a name and a password"), "{}", refused.stderr);
    assert!(proxy.asked().is_empty());
    fetch("USER:PASSWORD@").with(0);
    assert!(proxy.asked().iter().all(|host| host.starts_with("localhost:")) && !proxy.asked().is_empty());
}

#[dyno_test(with_curl)]
fn a_full_disk_leaves_nothing() {
    if !geteuid().is_root() {
        return;
    }
    let site = Site::new();
    let archive = site.archive("8.0.22", &"x".repeat(2 << 20));
    site.publish("current", FILE, &archive);
    let cache = site.bench.path("own");
    fs::create_dir(&cache).unwrap();
    let dyno = site.command(&["engine", "fetch", "mysql@8.0.22"]);
    // The archive's checksum is right, but its content does not fit on the disk.
    let script = "mount -t tmpfs -o size=512k none \"$1\" || exit 77; \"$0\" engine fetch mysql@8.0.22; s=$?; ls -R \"$1\"; exit $s";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script]).arg(dyno.get_program()).arg(&cache);
    command.envs(dyno.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ended = Ended::from(command.output().unwrap());
    if ended.status == Some(77) {
        return;
    }
    let ended = ended.with(1);
    assert!(ended.stderr.contains("No space left"), "{}", ended.stderr);
    assert!(!ended.stdout.contains("partial") && !ended.stdout.contains("tar.gz:"), "{}", ended.stdout);
    assert_eq!(site.lock(), "");
}

#[dyno_test(with_curl)]
fn what_can_be_had_is_listed() {
    let site = Site::new();
    let page =
        b"<a href=\"mysql-8.0.22/\">x</a><a href=\"mysql-8.0.24/\">y</a><a href=\"mysql-5.7.1/\">z</a>"
            .to_vec();
    site.vendor.put("/list", Answer::File(page));
    let list = site.dyno(&["engine", "list", "--upstream", "mysql"]).with(0);
    assert!(
        list.stdout.contains("mysql@8.0.23") && list.stdout.contains("published checksum"),
        "{}",
        list.stdout
    );
    assert!(!list.stdout.contains("8.0.24"), "{}", list.stdout);
    let json = ["engine", "list", "--upstream", "mysql", "--refresh", "--format", "json"];
    let listed: Value = serde_json::from_str(&site.dyno(&json).with(0).stdout).unwrap();
    let versions: Vec<&str> =
        listed["upstream"].as_array().unwrap().iter().map(|it| it["version"].as_str().unwrap()).collect();
    assert_eq!(versions, ["8.0.24", "8.0.23", "8.0.22", "8.0.21"]);
    assert!(listed["upstream"][0]["from"].as_str().unwrap().ends_with("mysql-8.0.24-linux.tar.gz"));
    // Later commands use the refreshed list too.
    let all = site.dyno(&["engine", "list", "--upstream"]).with(0).stdout;
    let line = all.lines().find(|line| line.starts_with("mysql@8.0 ")).unwrap_or_else(|| panic!("{all}"));
    assert!(line.contains("8.0.24"), "{line}");
    assert!(all.contains("postgres@17") && all.contains("Maven's SHA-1"), "{all}");
    let unknown = site.dyno(&["engine", "list", "--upstream", "oracle"]).with(1);
    assert!(unknown.stderr.contains("mariadb, mysql, percona, postgres"), "{}", unknown.stderr);
}

#[dyno_test(with_curl)]
fn an_archive_becomes_an_entry() {
    let site = Site::new();
    let archive = site.archive("8.0.22-mine", "");
    site.vendor.put("/mine.tar.gz", Answer::File(archive.clone()));
    let address = format!("{}/mine.tar.gz", site.vendor.address());
    let wrong = site.dyno(&["engine", "add", &address, "--sha256", &"ab".repeat(32)]).with(1);
    assert!(wrong.stderr.contains("expected abab"), "{}", wrong.stderr);
    let named = ["engine", "add", &address, "--name", "mysql-mine"];
    let added = site.dyno(&named).with(0);
    assert!(added.stdout.starts_with("mysql-mine@8.0.22 is 8.0.22-mine, in "), "{}", added.stdout);
    let again = site.dyno(&named).with(1);
    assert!(again.stderr.contains("exists already"), "{}", again.stderr);
    // The cache has the archive of this version, so a fetch needs no network.
    let before = site.vendor.asked().len();
    site.dyno(&["engine", "fetch", "mysql-mine"]).with(0);
    assert_eq!(site.vendor.asked().len(), before);
    let list = site.dyno(&["engine", "list"]).with(0).stdout;
    assert!(
        list.lines().any(|line| line.starts_with("mysql-mine@8.0.22") && line.contains("innodb")),
        "{list}"
    );

    fs::write(site.bench.path("own.tar.gz"), &archive).unwrap();
    site.dyno(&["engine", "add", "own.tar.gz", "--name", "mysql-own@1"]).with(0);
    site.dyno(&["engine", "fetch", "mysql-own"]).with(0);
    let nothing = site.dyno(&["engine", "add", "nothing.tar.gz"]).with(1);
    assert!(nothing.stderr.contains("nothing.tar.gz"), "{}", nothing.stderr);
    fs::write(site.bench.path("page.tar.gz"), "<html>").unwrap();
    let page = site.dyno(&["engine", "add", "page.tar.gz"]).with(1);
    assert!(page.stderr.contains("it is a page, not an archive"), "{}", page.stderr);
}

#[dyno_test(with_engine("postgres@9.6.24"))]
fn a_version_of_maven_is_pinned_and_starts() {
    let bench = Bench::new();
    bench.share_tools();
    let run = |arguments: &[&str]| -> Ended {
        let mut command = bench.command(arguments);
        command.env("XDG_CONFIG_HOME", bench.path("config")).output().unwrap().into()
    };
    run(&["engine", "start", "postgres@13"]).with(0);
    let version = run(&["engine", "shell", "postgres@13", "-e", "SHOW server_version"]).with(0).stdout;
    assert!(version.contains("13."), "{version}");
    run(&["engine", "stop", "postgres@13"]).with(0);
    let list = run(&["engine", "list", "--upstream", "postgres"]).with(0).stdout;
    assert!(list.lines().any(|line| line.starts_with("postgres@13.") && line.contains("here")), "{list}");
}

//! The load process: which rights its script has, and how it ends when memory runs out.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;
use std::process::Stdio;

use dyno_testing::dyno_test;
use rustix::process::geteuid;
use serde_json::{Value, json};

use crate::bench::{Bench, Ended};

/// The account of load processes that root starts.
const NOBODY: u32 = 65534;

/// The output of a script that a load process runs on a SQLite database made by Dyno.
fn printed(bench: &Bench, folder: &Path, source: &str) -> String {
    let data = bench.path("data");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("x.sqlite"), "").unwrap();
    if geteuid().is_root() {
        chown(&data, Some(NOBODY), Some(NOBODY)).unwrap();
        chown(data.join("x.sqlite"), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let job = json!({
        "target": { "driver": "sqlite", "addresses": [{ "file": data.join("x.sqlite") }] },
        "script": { "name": "mine", "source": source, "search_path": [folder] },
        "command": "prepare",
        "connections": 1,
        "seed": 1,
    });
    let mut command = bench.command(&["drive"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{job}").unwrap();
    // The end of input stops the job, so wait for the last frame first.
    let mut frames = String::new();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    while !frames.contains("\"finished\"") && !frames.contains("\"failed\"") {
        let read = std::io::BufRead::read_line(&mut output, &mut frames).unwrap();
        assert!(read > 0, "{frames}");
    }
    drop(input);
    Ended::from(child.wait_with_output().unwrap()).with(0);
    let frames = frames.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let texts = frames.filter_map(|frame| match frame["frame"].as_str() {
        Some("log") => frame["text"].as_str().map(str::to_owned),
        Some("failed") => frame["message"].as_str().map(str::to_owned),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[dyno_test]
fn the_client_is_killed_before_the_server() {
    let bench = Bench::new();
    let script = "function prepare() print(io.open('/proc/self/oom_score_adj'):read()) end";
    assert_eq!(printed(&bench, &bench.path("."), script), "1000");
}

#[dyno_test]
fn a_script_gains_no_rights() {
    let bench = Bench::new();
    let script = "function prepare() print(io.open('/proc/self/status'):read('*a')) end";
    let status = printed(&bench, &bench.path("."), script);
    assert!(status.contains("NoNewPrivs:\t1\n"), "{status}");
    if geteuid().is_root() {
        assert!(status.contains("Uid:\t65534\t65534\t65534\t65534\n"), "{status}");
        assert!(status.contains("CapEff:\t0000000000000000\n"), "{status}");
        assert!(status.contains("CapPrm:\t0000000000000000\n"), "{status}");
    }
}

#[dyno_test]
fn a_script_of_roots_writes_nowhere_but_into_the_database() {
    if !geteuid().is_root() {
        return;
    }
    let bench = Bench::new();
    let script = format!(
        "function prepare()
           local con = sysbench.sql.driver():connect()
           con:query('CREATE TABLE t (id INT)')
           print(io.open('{0}', 'w') == nil, os.execute('touch {0} 2> /dev/null') ~= 0)
         end",
        bench.path("written").display()
    );
    assert_eq!(printed(&bench, &bench.path("."), &script), "true\ttrue");
    assert!(!bench.path("written").exists());
}

/// The script can read files in the closed folder, but still cannot write.
#[dyno_test]
fn a_script_below_a_closed_folder_reads_beside_itself() {
    let bench = Bench::new();
    let folder = bench.path("closed");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("beside.lua"), "return 'read'").unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let script = format!(
        "function prepare() print(require('beside'), io.open('{}', 'w') == nil) end",
        folder.join("beside.lua").display()
    );
    let is_kept = geteuid().is_root();
    assert_eq!(printed(&bench, &folder, &script), format!("read\t{is_kept}"));
}

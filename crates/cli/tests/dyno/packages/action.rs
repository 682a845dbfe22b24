//! The steps of the GitHub Action, run as the Action's runner does: in a clone of a repository with a pull request.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use dyno_engine::testing::{installation, python, with_engine};
use dyno_testing::{Completion, Failed, dyno_test, ignorable};
use tempfile::TempDir;

use super::{made_by, packaging, succeed, top, version};
use crate::bench::{Bench, Ended};

const OF_MAIN: &str = "mariadb@10.1.23";
const OF_THE_REQUEST: &str = "mariadb@10.11";

/// A repository whose branches `main` and `request` differ in one file. Returns a clone of `request` that is as
/// shallow as the clone of a runner.
fn clone(bench: &Bench, file: &str, of_main: &str, of_the_request: &str) -> PathBuf {
    let git = |folder: &Path, words: &[&str]| {
        let who = ["-c", "user.name=Test", "-c", "user.email=test@localhost"];
        succeed(Command::new("git").args(who).args(words).current_dir(folder))
    };
    let origin = bench.path("origin");
    fs::create_dir(&origin).unwrap();
    git(&origin, &["init", "--quiet", "--initial-branch=main"]);
    for (branch, text) in [("main", of_main), ("request", of_the_request)] {
        fs::write(origin.join(file), text).unwrap();
        if branch != "main" {
            git(&origin, &["checkout", "--quiet", "-b", branch]);
        }
        git(&origin, &["add", "."]);
        git(&origin, &["commit", "--quiet", "--message", branch]);
    }
    let address = format!("file://{}", origin.display());
    git(&bench.path(""), &["clone", "--quiet", "--depth=1", "--branch=request", &address, "clone"]);
    bench.path("clone")
}

/// The step that builds and compares. Inputs with a default are not set.
fn comparison(bench: &Bench, clone: &Path, build: &str) -> Command {
    let dyno = bench.command(&[]);
    let mut command = Command::new(packaging("action/compare.sh"));
    command.arg(bench.path("comparison")).current_dir(clone);
    command.envs(dyno.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("DYNO", dyno.get_program());
    for (name, value) in [
        ("BASE", "main"),
        ("HEAD", "HEAD"),
        ("BUILD", build),
        ("BUILD_FOLDER", "build"),
        ("ARGUMENTS", ""),
        ("UNDECIDED", "fail"),
        ("NAME", "dyno"),
    ] {
        command.env(name, value);
    }
    command.env("GITHUB_OUTPUT", bench.path("output")).env("GITHUB_STEP_SUMMARY", bench.path("summary"));
    command.env_remove("GITHUB_RUN_ID");
    command
}

fn read(bench: &Bench, name: &str) -> String {
    fs::read_to_string(bench.path(name)).unwrap_or_default()
}

#[dyno_test(with_engine(OF_THE_REQUEST))]
fn a_slower_request_fails_and_gets_a_comment() {
    let roots = [OF_MAIN, OF_THE_REQUEST].map(|name| installation(name).unwrap().root.display().to_string());
    let bench = Bench::new();
    let clone = clone(&bench, "server", &roots[0], &roots[1]);
    bench.write_lean_profiles();
    fs::write(clone.join("slower_from.lua"), include_str!("../search/slower_from.lua")).unwrap();
    let arguments = "--workload slower_from.lua --option 'slower_from=10.11' --no-prepare --profile ../lean.toml \
                     --seconds 0.3 --rounds-max 6";
    let mut job = comparison(&bench, &clone, "ln -s \"$(cat server)\" build");
    let ended = Ended::from(job.env("ARGUMENTS", arguments).output().unwrap()).with(1);
    assert!(ended.stdout.contains("build-pr") && ended.stdout.contains('−'), "{}", ended.stdout);

    let comment = read(&bench, "comparison/report/comment.md");
    assert!(
        comment.starts_with("<!-- dyno dyno -->\n**dyno: a test got slower.** `build-pr` is "),
        "{comment}"
    );
    assert!(comment.contains("| test | clients |") && comment.contains("**regressed"), "{comment}");
    assert_eq!(read(&bench, "summary"), comment);
    assert!(read(&bench, "output").starts_with("status=1\ncomment="), "{}", read(&bench, "output"));
    assert!(read(&bench, "comparison/report/dyno.html").contains("build-pr"));
    assert!(read(&bench, "comparison/report/verdict.xml").contains("<failure"));
    let checkouts = succeed(Command::new("git").args(["worktree", "list"]).current_dir(&clone));
    assert_eq!(checkouts.lines().count(), 1, "{checkouts}");
    assert!(bench.processes().is_empty());
}

#[dyno_test(ignorable)]
fn a_comment_is_written_once() -> Result<Completion, Failed> {
    if Command::new("node").arg("--version").output().is_err() {
        return python::lacking("node is not installed".to_owned());
    }
    succeed(
        Command::new("node")
            .args(["-e", include_str!("comment.test.js")])
            .arg(packaging("action/comment.js")),
    );
    Ok(Completion::Completed)
}

/// A stand-in for `dyno` with a given exit status, to test the Action's reaction to each status.
fn ending(bench: &Bench, status: i32) -> PathBuf {
    let program = bench.path(&format!("ends-with-{status}"));
    fs::write(&program, format!("#!/bin/sh\ncase $1 in report) exit 0;; *) exit {status};; esac\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

#[dyno_test]
fn each_end_of_a_comparison_has_its_status() {
    let bench = Bench::new();
    let clone = clone(&bench, "file", "a", "b");
    for (told, undecided, status, words) in [
        (0, "fail", 0, "no test got slower"),
        (1, "pass", 1, "a test got slower"),
        (2, "pass", 2, "no comparison was made"),
        (3, "fail", 3, "not decided"),
        (3, "pass", 0, "not decided"),
    ] {
        let mut job = comparison(&bench, &clone, "mkdir build");
        job.env("DYNO", ending(&bench, told)).env("UNDECIDED", undecided);
        Ended::from(job.output().unwrap()).with(status);
        let comment = read(&bench, "comparison/report/comment.md");
        assert!(comment.contains(&format!("**dyno: {words}.**")), "{comment}");
        assert!(read(&bench, "output").contains(&format!("status={told}\n")));
        fs::remove_dir_all(bench.path("comparison")).unwrap();
    }
}

#[dyno_test]
fn what_the_job_says_wrongly_is_told() {
    let bench = Bench::new();
    let clone = clone(&bench, "file", "a", "b");
    for (name, value, words) in [
        ("BUILD", "mkdir build; false", "error: the build of main failed at "),
        ("BUILD", "true", "error: the build of main left no folder 'build'"),
        ("BUILD", "test \"$(cat file)\" = a && mkdir build", "error: the build of pr failed at "),
        ("BASE", "none", "error: there is no commit 'none'"),
        ("BASE", "--upload-pack=false", "error: '--upload-pack=false' is not a commit"),
        ("BUILD_FOLDER", "/usr", "error: the folder of a build is below its checkout, and '/usr' is not"),
        ("UNDECIDED", "maybe", "error: undecided is 'maybe'; write fail or pass"),
    ] {
        let mut job = comparison(&bench, &clone, "mkdir build");
        let ended = Ended::from(job.env(name, value).output().unwrap()).with(2);
        assert!(ended.stderr.contains(words), "{name}={value}: {}", ended.stderr);
        assert!(!bench.path("output").exists(), "{name}={value}");
        let _ = fs::remove_dir_all(bench.path("comparison"));
    }
    fs::create_dir(bench.path("comparison")).unwrap();
    let again = Ended::from(comparison(&bench, &clone, "true").output().unwrap()).with(2);
    assert!(again.stderr.contains("exists already"), "{}", again.stderr);
}

#[dyno_test]
fn a_release_is_used_only_if_its_sums_confirm_it() {
    let folder = TempDir::new().unwrap();
    let archive = made_by("archive.sh", &[], folder.path());
    let packages = archive.parent().unwrap();
    succeed(Command::new("sh").args(["-c", "sha256sum * > SHA256SUMS"]).current_dir(packages));
    let releases = folder.path().join("releases");
    fs::create_dir(&releases).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_dyno"));
    let release = releases.join(format!("v{}", env!("CARGO_PKG_VERSION")));
    let install = |place: &str| {
        let mut step = Command::new(packaging("action/install.sh"));
        step.arg(folder.path().join(place)).env("DYNO_RELEASES", format!("file://{}", releases.display()));
        Ended::from(step.output().unwrap())
    };
    let none = install("none").with(2);
    assert!(
        none.stderr.contains("has no SHA256SUMS; build dyno, and name it as the input dyno"),
        "{}",
        none.stderr
    );
    fs::rename(packages, &release).unwrap();
    install("good").with(0);
    assert_eq!(version(&folder.path().join("good/bin/dyno")), version(program));

    let archive = release.join(archive.file_name().unwrap());
    let mut bytes = fs::read(&archive).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&archive, bytes).unwrap();
    let other = install("other").with(2);
    assert!(
        other.stderr.contains("is not the file that SHA256SUMS of its release names"),
        "{}",
        other.stderr
    );
    assert!(!folder.path().join("other").exists());
}

/// Each word that follows `begin` in a text.
fn words_after<'a>(text: &'a str, begin: &'a str) -> impl Iterator<Item = &'a str> {
    let ends = |letter: char| !letter.is_alphanumeric() && !"-_./".contains(letter);
    text.split(begin).skip(1).map(move |rest| rest.split(ends).next().unwrap_or_default())
}

/// The name of an input, if this line of the action's file declares one.
fn declared_input(line: &str) -> Option<&str> {
    line.strip_prefix("  ")?.strip_suffix(':').filter(|name| !name.starts_with(' '))
}

#[dyno_test]
fn its_files_name_what_there_is() {
    let action = fs::read_to_string(top().join("action.yml")).unwrap();
    let release = fs::read_to_string(top().join(".github/workflows/release.yml")).unwrap();
    for (name, text) in [("action.yml", &action), ("release.yml", &release)] {
        let mut files: Vec<&str> = words_after(text, "packaging/").filter(|file| !file.is_empty()).collect();
        files.retain(|file| *file != "action");
        assert!(!files.is_empty(), "{name}");
        for file in files {
            assert!(packaging(file).is_file(), "{name} names packaging/{file}");
        }
    }
    let (_, rest) = action.split_once("\ninputs:\n").unwrap();
    let (inputs, steps) = rest.split_once("\noutputs:\n").unwrap();
    let declared: Vec<&str> = inputs.lines().filter_map(declared_input).collect();
    let used: Vec<&str> = words_after(steps, "inputs.").collect();
    assert!(declared.len() > 5, "{declared:?}");
    assert!(declared.iter().all(|name| used.contains(name)), "{declared:?} {used:?}");
    assert!(used.iter().all(|name| declared.contains(name)), "{declared:?} {used:?}");
}

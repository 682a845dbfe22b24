//! The archive, which is unpacked into a prefix (a folder with `bin` and `share`), and the wheel, which Python
//! installs into a prefix.

use std::fs;
use std::path::Path;
use std::process::Command;

use dyno_engine::testing::python;
use dyno_testing::{Completion, Failed, dyno_test, ignorable};
use tempfile::TempDir;

use super::{SHORT_RUN, made_by, succeed, version};
use crate::bench::Bench;

/// Checks that the program in a prefix is the tested program, works, and has its manual pages.
fn check(prefix: &Path) {
    let program = prefix.join("bin/dyno");
    assert_eq!(version(&program), version(Path::new(env!("CARGO_BIN_EXE_dyno"))));
    for (file, word) in [
        ("man/man1/dyno.1", "quickstart"),
        ("man/man1/dyno-versus.1", "SYSTEM"),
        ("bash-completion/completions/dyno", "quickstart"),
        ("zsh/site-functions/_dyno", "quickstart"),
        ("fish/vendor_completions.d/dyno.fish", "quickstart"),
    ] {
        let text = fs::read_to_string(prefix.join("share").join(file)).unwrap_or_default();
        assert!(text.contains(word), "{file}");
    }
    let bench = Bench::new();
    let tested = bench.command(&[]);
    let mut installed = Command::new(&program);
    installed.envs(tested.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let printed = succeed(installed.args(SHORT_RUN.split(' ')).current_dir(bench.path("")));
    assert!(printed.contains("rollback") && printed.contains("wal"), "{printed}");
    assert_eq!(bench.value("SELECT status FROM run"), Some("finished".to_owned()));
}

#[dyno_test]
fn the_archive_is_complete_below_a_prefix() {
    let folder = TempDir::new().unwrap();
    let archive = made_by("archive.sh", &[], folder.path());
    let prefix = folder.path().join("prefix");
    fs::create_dir(&prefix).unwrap();
    succeed(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&prefix).arg("--strip-components=1"));
    check(&prefix);
    let notices = fs::read_to_string(prefix.join("share/doc/dyno/third-party.txt")).unwrap();
    for contained in ["rusqlite ", "LuaJIT", "Zstandard", "uplot", "Apache License"] {
        assert!(notices.contains(contained), "{contained}");
    }
}

/// The arguments of `python3` that run pip without a network.
const PIP: [&str; 3] = ["-m", "pip", "--disable-pip-version-check"];

#[dyno_test(ignorable)]
fn the_wheel_is_for_systems_with_its_glibc() -> Result<Completion, Failed> {
    let pip = Command::new("python3").args(["-m", "pip", "--version"]).output();
    if !pip.is_ok_and(|output| output.status.success()) {
        return python::lacking("python3 with pip is not installed".to_owned());
    }
    let folder = TempDir::new().unwrap();
    let wheel = made_by("wheel.sh", &[], folder.path());
    let name = wheel.file_name().unwrap().to_str().unwrap();
    assert!(name.contains("-py3-none-manylinux_2_"), "{name}");

    let environment = folder.path().join("environment");
    succeed(Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&environment));
    let python = environment.join("bin/python");
    let install = ["install", "--quiet", "--no-index", "--no-deps"];
    succeed(Command::new("python3").args(PIP).arg("--python").arg(&python).args(install).arg(&wheel));
    check(&environment);

    // The wheel does not install on a system like Alpine, whose C library is musl.
    let elsewhere = ["--only-binary=:all:", "--platform=musllinux_1_2_x86_64", "--target"];
    let mut on_alpine = Command::new("python3");
    on_alpine.args(PIP).args(install).args(elsewhere).arg(folder.path().join("alpine")).arg(&wheel);
    let output = on_alpine.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && told.contains("is not a supported wheel on this platform"), "{told}");
    Ok(Completion::Completed)
}

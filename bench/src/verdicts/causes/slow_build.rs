//! A build of a server that is slower in everything, like a debug build. It is the same server with a preloaded
//! library in which each read from a client costs CPU time.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use dyno_engine::{Cache, Catalogue, SystemName, fetch};

use super::cause;

const LIBRARY: &str = "slow_build.c";

/// Makes the build in a folder. `server` is the path of the server's program within the engine's folder.
pub(super) fn make(engine: &str, server: &str, folder: &Path) -> anyhow::Result<()> {
    let name: SystemName = engine.parse()?;
    let catalogue = Catalogue::builtin();
    let installation = fetch(&catalogue.find(&name)?, &Cache::default_location(), &mut |_| {})?;
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    // Hard links share the disk space. A symbolic link would point outside the folder, to a place that the server is
    // not allowed to see.
    if run(Command::new("cp").arg("-al").arg(&installation.root).arg(folder)).is_err() {
        // Hard links do not work across file systems, so copy instead.
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        run(Command::new("cp").args(["-a", "--reflink=auto"]).arg(&installation.root).arg(folder))?;
    }
    let program = folder.join(server);
    let real = program.with_extension("real");
    fs::rename(&program, &real).with_context(|| format!("{}: no server", program.display()))?;
    let beside = program.parent().unwrap_or(folder);
    let source = folder.join(LIBRARY);
    fs::write(&source, cause::file(LIBRARY).context("bench/causes has no slow_build.c")?)?;
    let library = beside.join("slow_build.so");
    run(Command::new("cc").args(["-shared", "-fPIC", "-O2", "-o"]).arg(&library).arg(&source).arg("-ldl"))?;
    let script = format!(
        "#!/bin/sh\nLD_PRELOAD='{}' exec '{}' \"$@\"\n",
        library.canonicalize()?.display(),
        real.canonicalize()?.display()
    );
    fs::write(&program, script)?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot start {program}"))?;
    anyhow::ensure!(status.success(), "{program}: {status}");
    Ok(())
}

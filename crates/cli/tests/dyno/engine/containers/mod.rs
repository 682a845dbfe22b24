//! Servers in containers, from images that podman makes of a fetched engine's files. If podman is missing or
//! cannot run, the tests are ignored with the reason; with `DYNO_REQUIRE_CONTAINERS=1` they fail instead.

mod commands;
pub(crate) mod images;

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use dyno_engine::testing::installation;
use dyno_host::{Confinement, IoLimits};
use dyno_testing::{Completion, Failed, Trial, dyno_test};
use rustix::process::Signal;
use serde_json::Value;

use self::images::{Images, is_on_path};
use crate::bench::{Bench, Ended, eventually, finish, press_ctrl_c, send};

const ENGINE: &str = "mariadb@10.11";
const IMAGE: &str = "localhost/dyno-mariadb:10.11";
/// The folder that the image is made from.
const FILES: &str = "files";

/// Makes a test that needs the image.
fn with_images(name: &str, test: fn(&Images)) -> Vec<Trial> {
    let run = move || match images() {
        Ok(images) => {
            test(&images);
            Ok(Completion::Completed)
        }
        Err(reason) => lacking(reason),
    };
    vec![Trial::ignorable_test(name, run)]
}

/// Returns the result of a test that cannot run because this machine has no containers. The test is ignored with the
/// reason, or fails if containers are required.
pub(crate) fn lacking(reason: String) -> Result<Completion, Failed> {
    match env::var_os("DYNO_REQUIRE_CONTAINERS") {
        Some(value) if value == "1" => Err(reason.into()),
        _ => Ok(Completion::ignored_with(reason)),
    }
}

/// A store with the image, or the reason why there is none.
fn images() -> Result<Images, String> {
    if !is_on_path("podman") {
        return Err("podman is not installed".to_owned());
    }
    let engine = installation(ENGINE)?;
    let images = Images::new()?;
    images.import(&images.mariadb(FILES, &engine), IMAGE, &[])?;
    images.podman(&[
        "run",
        "--rm",
        "--network=host",
        "--ulimit=nofile=512:512",
        "--ulimit=nproc=512:512",
        IMAGE,
        "/bin/sh",
        "-c",
        ":",
    ])?;
    Ok(images)
}

fn dyno(bench: &Bench, images: &Images, arguments: &[&str]) -> Command {
    let mut command = bench.command(arguments);
    command.env("DYNO_CONTAINER_TOOL", images.tool());
    command
}

fn run(bench: &Bench, images: &Images, arguments: &[&str]) -> Ended {
    dyno(bench, images, arguments).output().unwrap().into()
}

/// The plan of the documentation, with this test's image and files.
fn documented_plan(images: &Images) -> String {
    let page = include_str!("../../../../../../docs/do/containers.md");
    let plan = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let files = images.path(FILES).display().to_string();
    plan.replace("oci:docker.io/library/mariadb:10.11", &format!("oci:{IMAGE}"))
        .replace("mariadb-10.11-files", &files)
}

/// The limits that the plan sets on its systems. If this machine may not set all of them, the plan limits only the
/// CPUs. The kernel can report every one of these limits.
fn limits() -> &'static str {
    let confinement = Confinement {
        memory_bytes: Some(512 << 20),
        io: IoLimits::of_iops(5000),
        volume_bytes: Some(512 << 20),
        server_cpus: Some("0".parse().unwrap()),
        ..Confinement::default()
    };
    match confinement.check_rights() {
        Ok(()) => "memory = '512M'\nserver_cpus = '0'\niops = 5000\nvolume = '512M'",
        Err(_) => "server_cpus = '0'",
    }
}

#[dyno_test(with_images)]
fn a_server_is_measured_in_a_container_and_from_its_folder(images: &Images) {
    let bench = Bench::new();
    let plan = documented_plan(images);
    let crash = "[crash]\nkill = 'process'\ncrashes = 2\ncommits = 30\nclients = 2\nsystems = ['image']";
    bench.write("plan.toml", &format!("{plan}\n[confinement]\n{}\n{crash}\n", limits()));
    let less = ["--rounds", "2", "--seconds", "0.3", "--clients", "1", "--scale", "0.01"];
    run(&bench, images, &[&["run", "plan.toml"], &less[..]].concat()).with(0);

    // Every quantity of a server is measured for each of the three systems, in a container or not.
    let of_each = "SELECT count(DISTINCT system_id || step_id) FROM trial WHERE outcome = 'completed' AND operations > 0
                   AND server_user_cpu_us + server_system_cpu_us > 0 AND server_context_switches > 0
                   AND disk_bytes_after > 0";
    assert_eq!(bench.value(of_each), Some(3 * bench.count("step")));
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE outcome <> 'completed'"), Some(0));
    let counted = "SELECT count(DISTINCT system_id) FROM trial_counter JOIN trial ON trial.id = trial_id";
    assert_eq!(bench.value(counted), Some(3));

    // The server from the image and the server from the folder are the same program, with the same settings and rights.
    let versions = "SELECT count(DISTINCT engine_version) FROM system";
    assert_eq!(bench.value(versions), Some(1));
    let same = "SELECT count(*) FROM variable AS a JOIN variable AS b USING (run_id, name, value)
                WHERE a.system_id = 'folder' AND b.system_id = 'image' AND name IN
                ('innodb_buffer_pool_size', 'max_connections', 'open_files_limit', 'table_open_cache')";
    assert_eq!(bench.value(same), Some(4));

    // The results file and the reports name the origin of the image.
    let digest = images.podman(&["image", "inspect", "--format", "{{.Digest}}", IMAGE]).unwrap();
    let reference = format!("{IMAGE}@{digest}");
    assert_eq!(bench.value("SELECT image FROM system WHERE id = 'image'"), Some(reference.clone()));
    assert_eq!(bench.value("SELECT origin FROM system WHERE image IS NOT NULL"), Some("image".to_owned()));
    let report = |format: &str| {
        run(&bench, images, &["report", "--format", format, "--out", "report"]);
        fs::read_to_string(bench.path("report")).unwrap()
    };
    let json: Value = serde_json::from_str(&report("json")).unwrap();
    let shown: Vec<&Value> =
        json["systems"].as_array().unwrap().iter().map(|system| &system["image"]).collect();
    assert_eq!(shown, [&Value::Null, &Value::String(reference.clone()), &Value::Null]);
    assert!(report("html").contains(&reference));
    assert!(report("text").contains(&digest[..19]), "{}", report("text"));

    // The limits apply to both servers: the one from the image, in a container, and the one from the folder.
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE limits ->> '$.differences' <> '[]'"), Some(0));
    let cpus = "SELECT DISTINCT limits ->> '$.in_force.server_cpus' FROM trial";
    assert_eq!(bench.value(cpus), Some("0".to_owned()));
    assert_eq!(bench.value("SELECT crashes FROM crash_test WHERE system_id = 'image'"), Some(2));

    assert_eq!(images.containers(), "");
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

/// A plan whose last step runs until the test ends.
fn long_plan(seconds: f64) -> String {
    format!(
        "name = 'long'\ntitle = 'Long'\nbase = 'db'\nrounds = 1\nclients = [1]\nseconds = 0.2\n\
         [data]\ntables = 1\nrows = 100\n[[system]]\nid = 'db'\nengine = 'oci:{IMAGE}'\n\
         [[step]]\nid = 'load'\ngroup = 'load'\ncommand = 'prepare'\nworkload = 'oltp_insert'\noperation = 'row'\n\
         [[step]]\nid = 'short'\ngroup = 'reads'\nworkload = 'oltp_point_select'\noperation = 'query'\n\
         [[step]]\nid = 'last'\ngroup = 'reads'\nworkload = 'oltp_point_select'\noperation = 'query'\n\
         seconds = {seconds}\n"
    )
}

/// Whether a process runs this program of a container.
fn runs(pid: u32, program: &str) -> bool {
    fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|path| path == Path::new(program))
}

#[dyno_test(with_images)]
fn what_is_left_of_a_killed_dyno_is_cleared_away(images: &Images) {
    let bench = Bench::new();
    let start = || {
        let dyno = bench.start_command_until(dyno(&bench, images, &["run", "plan.toml"]), 2);
        eventually("the last step runs", || bench.load_processes().len() == 1);
        dyno
    };
    bench.write("plan.toml", &long_plan(3600.0));
    let stopped = start();
    press_ctrl_c(&stopped);
    finish(stopped).with(130);
    assert!(bench.servers().is_empty() && bench.processes().is_empty());
    assert_eq!(images.containers(), "");
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
    a_moved_tag_ends_a_run(&bench, images);
    fs::remove_file(bench.path("dyno.db")).unwrap();

    let killed = start();
    send(killed.id(), Signal::KILL);
    assert_eq!(finish(killed).status, None);
    eventually("the server has ended", || bench.servers().is_empty() && bench.processes().is_empty());
    eventually("its container is removed", || images.containers().is_empty());
    fs::remove_file(bench.path("dyno.db")).unwrap();

    // If the shell that watches `dyno` is killed too, nothing removes the container. The next start of a server then
    // removes it.
    let killed = start();
    let watch =
        bench.servers().into_iter().find(|pid| runs(*pid, "/bin/sh")).expect("a shell waits for dyno's end");
    send(watch, Signal::KILL);
    send(killed.id(), Signal::KILL);
    assert_eq!(finish(killed).status, None);
    assert!(bench.servers().into_iter().any(|pid| runs(pid, "/usr/sbin/mariadbd")));
    assert!(!images.containers().is_empty());
    bench.write("plan.toml", &long_plan(0.2));
    run(&bench, images, &["run", "plan.toml"]).with(0);
    eventually("nothing of the containers runs", || bench.servers().is_empty());
    assert_eq!(images.containers(), "");
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

/// An interrupted run does not resume with another image of the same name.
fn a_moved_tag_ends_a_run(bench: &Bench, images: &Images) {
    images.podman(&["tag", IMAGE, "localhost/dyno-kept:1"]).unwrap();
    images.move_tag(IMAGE);
    let resumed = run(bench, images, &["run", "plan.toml", "--resume"]).with(1);
    let words = format!("cannot resume the plan `long`: system `db` was {IMAGE}@sha256:");
    assert!(resumed.stderr.contains(&words), "{}", resumed.stderr);
    assert!(resumed.stderr.contains("bring the earlier image back"), "{}", resumed.stderr);
    images.podman(&["untag", IMAGE]).unwrap();
    images.podman(&["tag", "localhost/dyno-kept:1", IMAGE]).unwrap();
}

#[dyno_test(with_images)]
fn what_is_wrong_with_an_image_is_told(images: &Images) {
    let bench = Bench::new();
    let tell = |engine: &str, tool: &str| {
        let plan = long_plan(0.2).replace(&format!("engine = 'oci:{IMAGE}'"), engine);
        bench.write("plan.toml", &plan);
        let mut command = bench.command(&["run", "plan.toml"]);
        let ended: Ended = command.env("DYNO_CONTAINER_TOOL", tool).output().unwrap().into();
        assert_ne!(ended.status, Some(0), "{engine}");
        ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let tool = images.tool().display().to_string();
    let here = images.podman(&["image", "inspect", "--format", "{{.Architecture}}", IMAGE]).unwrap();
    let other = if here == "arm64" { "amd64" } else { "arm64" };
    let shell = images.shell("shell");
    images.import(&shell, "localhost/dyno-shell:1", &[]).unwrap();
    images.import(&shell, "localhost/dyno-other:1", &["--arch", other]).unwrap();
    fs::create_dir_all(images.path("nothing/etc")).unwrap();
    images.import(&images.path("nothing"), "localhost/dyno-nothing:1", &[]).unwrap();

    for (engine, tool, words) in [
        (
            format!("engine = 'oci:{IMAGE}'"),
            "/nowhere/podman",
            "plan.toml:12:10: cannot run /nowhere/podman: ",
        ),
        (
            "engine = 'oci:localhost/dyno-none:1'".to_owned(),
            &tool,
            "plan.toml:12:10: the image localhost/dyno-none:1 is not here, and its name does not tell the server's family",
        ),
        (
            "engine = 'oci:localhost/dyno-mysql'".to_owned(),
            &tool,
            "the image localhost/dyno-mysql is not here, and its tag is not a version",
        ),
        (
            "engine = 'oci:localhost/dyno-none:8.4'\nfamily = 'mysql'".to_owned(),
            &tool,
            "cannot use oci:localhost/dyno-none:8.4: podman cannot pull the image localhost/dyno-none:8.4: ",
        ),
        (
            "engine = 'oci:localhost/dyno-shell:1'".to_owned(),
            &tool,
            "looked for mysqld, mariadbd and postgres in /usr/sbin, ",
        ),
        (
            "engine = 'oci:localhost/dyno-nothing:1'".to_owned(),
            &tool,
            "podman cannot run a shell in the image localhost/dyno-nothing:1@sha256:",
        ),
        (
            "engine = 'oci:localhost/dyno-other:1'".to_owned(),
            &tool,
            &format!("is built for {other}, this machine is {here}"),
        ),
        (
            format!("engine = 'oci:{IMAGE}'\nfamily = 'postgres'"),
            &tool,
            "and postgres was expected by its name or its `family`; leave `family` out",
        ),
        (
            format!("engine = 'oci:{IMAGE}'\nsettings = {{ innodb_bufer_pool_size = 1 }}"),
            &tool,
            "unknown variable 'innodb_bufer_pool_size=1'",
        ),
    ] {
        let told = tell(&engine, tool);
        assert!(told.contains(words), "{engine}: {told}");
    }
    assert_eq!(images.containers(), "");
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

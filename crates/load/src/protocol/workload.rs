//! The built-in workloads: the binary contains `workloads/*.lua`.

use include_dir::{Dir, include_dir};

static WORKLOADS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../workloads");

/// Returns the Lua source of a built-in workload or module. The name of a module is the one that `require` uses
/// (`oltp.connection`).
pub fn builtin_workload(name: &str) -> Option<&'static str> {
    WORKLOADS.get_file(format!("{}.lua", name.replace('.', "/")))?.contents_utf8()
}

/// Names of the built-in workloads, in order.
pub fn builtin_workloads() -> Vec<&'static str> {
    let mut names: Vec<_> = WORKLOADS
        .files()
        .filter(|file| file.path().extension().is_some_and(|extension| extension == "lua"))
        .filter_map(|file| file.path().file_stem()?.to_str())
        // Modules that workloads share are not workloads.
        .filter(|name| !name.ends_with("_common"))
        .collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_are_found_by_name_and_modules_as_require_names_them() {
        let names = builtin_workloads();
        assert!(names.contains(&"oltp_read_write") && names.contains(&"tpcc"), "{names:?}");
        assert!(!names.contains(&"oltp_common"));
        assert!(names.iter().all(|name| builtin_workload(name).is_some_and(|source| !source.is_empty())));
        assert!(builtin_workload("oltp_common").is_some());
        assert!(builtin_workload("oltp.connection").is_some());
        assert_eq!(builtin_workload("no_such_workload"), None);
    }
}

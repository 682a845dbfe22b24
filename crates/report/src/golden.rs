//! Compares output with the files under `golden/`. Reviewers can read these files as users see the output.

/// Asserts that the output equals the file. After an intended change, `DYNO_BLESS=1 cargo test -p dyno-report`
/// rewrites the files.
pub(crate) fn assert_golden(file: &str, output: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(file);
    if std::env::var_os("DYNO_BLESS").is_some() {
        std::fs::write(&path, output).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    for (at, (output, expected)) in output.lines().zip(expected.lines()).enumerate() {
        assert_eq!(output, expected, "golden/{file}, line {}", at + 1);
    }
    assert_eq!(output.lines().count(), expected.lines().count(), "lines of golden/{file}");
}

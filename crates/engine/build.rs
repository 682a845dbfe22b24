//! Makes cargo rebuild the catalogue when a file is added to `engines/`. Cargo notices changes of existing files
//! without this script.

fn main() {
    println!("cargo::rerun-if-changed=../../engines");
}

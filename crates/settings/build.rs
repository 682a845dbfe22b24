//! Rebuilds the tables when a file is added to `settings/`. Cargo notices a changed file without this script.

fn main() {
    println!("cargo::rerun-if-changed=../../settings");
}

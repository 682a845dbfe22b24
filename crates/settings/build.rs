//! Rebuilds the tables when a file is added to `settings/`; a changed file is noticed without this.

fn main() {
    println!("cargo::rerun-if-changed=../../settings");
}

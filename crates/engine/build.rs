//! Rebuilds the catalogue when a file is added to `engines/`; a changed file is noticed without this.

fn main() {
    println!("cargo::rerun-if-changed=../../engines");
}

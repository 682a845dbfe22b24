//! Compiles the crate again when a suite or a price list that it embeds is added, changed or removed.

fn main() {
    println!("cargo::rerun-if-changed=../../plans/suites");
    println!("cargo::rerun-if-changed=../../prices");
}

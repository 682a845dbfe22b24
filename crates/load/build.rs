//! Tells Cargo to compile the crate again when one of its built-in workloads is added, changed or removed.

fn main() {
    println!("cargo::rerun-if-changed=../../workloads");
}

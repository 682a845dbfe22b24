//! Compiles the crate again when a workload that it embeds is added, changed or removed.

fn main() {
    println!("cargo::rerun-if-changed=../../workloads");
}

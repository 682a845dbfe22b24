//! Facts about two hosts.

use dyno_store::HostRecord;

/// Memory sizes that differ by at most this share count as equal. Hosts of one model may differ because firmware
/// reserves some memory.
const MEMORY_TOLERANCE: f64 = 0.02;

/// Differences between a host and the first host, each as a phrase.
pub fn host_differences(first: &HostRecord, other: &HostRecord) -> Vec<String> {
    let word = |fact: Option<String>| fact.unwrap_or_else(|| "unknown".to_owned());
    let facts = decisive(first).into_iter().zip(decisive(other));
    let mut differences: Vec<String> = facts
        .filter(|((_, first), (_, other))| first != other)
        .map(|((name, first), (_, other))| format!("{name} {}, not {}", word(other), word(first)))
        .collect();
    if let (Some(of_first), Some(of_other)) = (first.memory_bytes, other.memory_bytes)
        && of_first.abs_diff(of_other) as f64 > MEMORY_TOLERANCE * of_first as f64
    {
        let gigabytes = |bytes: u64| format!("{:.1} GB", bytes as f64 / 1e9);
        differences.push(format!("memory {}, not {}", gigabytes(of_other), gigabytes(of_first)));
    }
    differences
}

/// The facts, in words, that determine the speed of a host, except its memory. The host's name is not among them.
fn decisive(host: &HostRecord) -> [(&'static str, Option<String>); 7] {
    let HostRecord { cpu_model, cpus, kernel, os, governor, is_virtual, are_cores_awake, .. } = host;
    [
        ("CPU", cpu_model.clone()),
        ("CPUs", cpus.map(|cpus| cpus.to_string())),
        ("kernel", kernel.clone()),
        ("system", os.clone()),
        ("governor", governor.clone()),
        ("virtual", is_virtual.map(|is_virtual| is_virtual.to_string())),
        ("idle cores awake", are_cores_awake.map(|are_awake| are_awake.to_string())),
    ]
}

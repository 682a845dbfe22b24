//! Facts about two hosts.

use serde_json::Value;

/// Facts that determine the speed of a host, with their words. The host's name is not one of them.
const FACTS: [(&str, &str); 7] = [
    ("cpu_model", "CPU"),
    ("cpus", "CPUs"),
    ("kernel", "kernel"),
    ("os", "system"),
    ("governor", "governor"),
    ("is_virtual", "virtual"),
    ("are_cores_awake", "idle cores awake"),
];
/// Hosts of one model differ by less than this, because firmware reserves some memory.
const MEMORY_TOLERANCE: f64 = 0.02;

/// Differences between a host and the first one, a phrase each, from their facts (`host::HostFacts` as JSON).
pub fn host_differences(first: &Value, other: &Value) -> Vec<String> {
    let mut differences: Vec<String> = FACTS
        .iter()
        .filter(|(key, _)| first.get(key) != other.get(key))
        .map(|(key, name)| format!("{name} {}, not {}", word(other.get(key)), word(first.get(key))))
        .collect();
    let memory = |facts: &Value| facts.get("memory_bytes").and_then(Value::as_f64);
    if let (Some(of_first), Some(of_other)) = (memory(first), memory(other))
        && (of_first - of_other).abs() > MEMORY_TOLERANCE * of_first
    {
        let gigabytes = |bytes: f64| format!("{:.1} GB", bytes / 1e9);
        differences.push(format!("memory {}, not {}", gigabytes(of_other), gigabytes(of_first)));
    }
    differences
}

fn word(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "unknown".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

//! Facts about a host.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Facts about a host. The file stores the facts as a JSON object, whose keys are the names of these fields. `None`
/// means unknown, because the kernel did not report the fact or the file has a value of another type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Value")]
pub struct HostRecord {
    pub hostname: Option<String>,
    /// The Linux distribution.
    pub os: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The processor architecture (`x86_64`).
    pub architecture: Option<String>,
    pub cpu_model: Option<String>,
    /// CPUs that Dyno could run on.
    pub cpus: Option<u64>,
    pub memory_bytes: Option<u64>,
    pub swap_bytes: Option<u64>,
    /// The kernel's governor of CPU frequencies; `None` if the kernel does not control frequencies.
    pub governor: Option<String>,
    pub is_virtual: Option<bool>,
    /// Whether a process kept idle cores from sleeping.
    pub are_cores_awake: Option<bool>,
}

impl HostRecord {
    /// All facts by name, each as text.
    pub fn facts(&self) -> [(&'static str, Option<String>); 11] {
        [
            ("hostname", self.hostname.clone()),
            ("os", self.os.clone()),
            ("kernel", self.kernel.clone()),
            ("architecture", self.architecture.clone()),
            ("cpu_model", self.cpu_model.clone()),
            ("cpus", text(self.cpus.as_ref())),
            ("memory_bytes", text(self.memory_bytes.as_ref())),
            ("swap_bytes", text(self.swap_bytes.as_ref())),
            ("governor", self.governor.clone()),
            ("is_virtual", text(self.is_virtual.as_ref())),
            ("are_cores_awake", text(self.are_cores_awake.as_ref())),
        ]
    }
}

fn text(fact: Option<&impl ToString>) -> Option<String> {
    fact.map(ToString::to_string)
}

impl From<Value> for HostRecord {
    fn from(json: Value) -> Self {
        let text = |name: &str| Some(json.get(name)?.as_str()?.to_owned());
        let number = |name: &str| json.get(name)?.as_u64();
        let truth = |name: &str| json.get(name)?.as_bool();
        Self {
            hostname: text("hostname"),
            os: text("os"),
            kernel: text("kernel"),
            architecture: text("architecture"),
            cpu_model: text("cpu_model"),
            cpus: number("cpus"),
            memory_bytes: number("memory_bytes"),
            swap_bytes: number("swap_bytes"),
            governor: text("governor"),
            is_virtual: truth("is_virtual"),
            are_cores_awake: truth("are_cores_awake"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read_again_under_the_names_of_its_facts() {
        let mut host = HostRecord { cpus: Some(2), is_virtual: Some(false), ..HostRecord::default() };
        host.os = Some("Debian".to_owned());
        let written = serde_json::to_value(&host).unwrap();
        let names: BTreeSet<&str> = host.facts().into_iter().map(|(name, _)| name).collect();
        assert_eq!(written.as_object().unwrap().keys().map(String::as_str).collect::<BTreeSet<_>>(), names);
        assert_eq!(serde_json::from_value::<HostRecord>(written).unwrap(), host);
    }

    #[test]
    fn a_value_of_another_type_is_unknown() {
        let odd = json!({ "cpus": -1, "kernel": 7, "os": "Debian", "is_virtual": "yes", "more": [] });
        assert_eq!(
            serde_json::from_value::<HostRecord>(odd).unwrap(),
            HostRecord { os: Some("Debian".to_owned()), ..HostRecord::default() }
        );
        assert_eq!(serde_json::from_value::<HostRecord>(json!([1])).unwrap(), HostRecord::default());
    }
}

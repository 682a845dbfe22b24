//! Hardware in words.

use dyno_judge::{Hardware, Resource};

use crate::wording::number::counted;

/// The limits of some hardware: `3000 IOPS, 8 CPUs`.
pub(crate) fn hardware(of: Hardware) -> String {
    let iops = match (of.read_iops, of.write_iops) {
        (Some(read), Some(write)) if read == write => Some(format!("{read} IOPS")),
        (None, None) => None,
        (read, write) => {
            let limit =
                |iops: Option<u64>| iops.map_or_else(|| "any number of".to_owned(), |iops| iops.to_string());
            Some(format!("{} reads and {} writes a second", limit(read), limit(write)))
        }
    };
    let cpus = of.cpus.map(|cpus| counted(cpus, "CPU"));
    let parts: Vec<String> = iops.into_iter().chain(cpus).collect();
    if parts.is_empty() { "hardware that is not known".to_owned() } else { parts.join(", ") }
}

pub(crate) fn resource(of: Resource) -> &'static str {
    match of {
        Resource::Cpus => "CPUs",
        Resource::ReadIops => "reads",
        Resource::WriteIops => "writes",
    }
}

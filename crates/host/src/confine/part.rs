//! The parts of a confinement. A part is copied from one confinement to another as a whole.

use super::confinement::Confinement;
use super::size::format_bytes;

/// A part of a confinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitPart {
    ServerCpus,
    ClientCpus,
    Memory,
    /// The volume's size, its limits of I/O and its latency, which need a volume.
    Volume,
}

impl LimitPart {
    const ALL: [Self; 4] = [Self::ServerCpus, Self::ClientCpus, Self::Memory, Self::Volume];

    /// The parts in which two confinements differ.
    pub fn differing(one: &Confinement, other: &Confinement) -> Vec<Self> {
        Self::ALL.into_iter().filter(|part| part.only(one) != part.only(other)).collect()
    }

    /// The part's key in a sweep. Reports list it among the settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::ServerCpus => "confinement.server_cpus",
            Self::ClientCpus => "confinement.client_cpus",
            Self::Memory => "confinement.memory",
            Self::Volume => "confinement.volume",
        }
    }

    /// What this part limits, in words.
    pub fn about(self) -> &'static str {
        match self {
            Self::ServerCpus => "the CPUs that the server may use",
            Self::ClientCpus => "the CPUs that the load generator may use",
            Self::Memory => "the memory that the server may use, page cache included",
            Self::Volume => "the server's own disk, with its I/O limits",
        }
    }

    /// The value of this part in a confinement, in words such as `0-1` or `2G with 500 reads/s`. `None` means no
    /// limit.
    pub fn value(self, of: &Confinement) -> Option<String> {
        match self {
            Self::ServerCpus => of.server_cpus.as_ref().map(ToString::to_string),
            Self::ClientCpus => of.client_cpus.as_ref().map(ToString::to_string),
            Self::Memory => of.memory_bytes.map(format_bytes),
            Self::Volume => of.volume_bytes().map(|bytes| volume(of, bytes)),
        }
    }

    /// Copies this part from one confinement to another.
    pub fn copy(self, from: &Confinement, to: &mut Confinement) {
        match self {
            Self::ServerCpus => to.server_cpus.clone_from(&from.server_cpus),
            Self::ClientCpus => to.client_cpus.clone_from(&from.client_cpus),
            Self::Memory => to.memory_bytes = from.memory_bytes,
            Self::Volume => {
                to.io = from.io.clone();
                to.burst_iops = from.burst_iops;
                to.burst_credits = from.burst_credits;
                to.latency_us = from.latency_us;
                to.volume_bytes = from.volume_bytes();
            }
        }
    }

    /// Returns a confinement that has this part of `of`, and no other limits.
    fn only(self, of: &Confinement) -> Confinement {
        let mut only = Confinement::default();
        self.copy(of, &mut only);
        only
    }
}

/// Describes a volume in words.
fn volume(of: &Confinement, bytes: u64) -> String {
    let io = &of.io;
    let limits = [
        (io.read_iops.map(|reads| reads.to_string()), "reads/s"),
        (io.write_iops.map(|writes| writes.to_string()), "writes/s"),
        (io.read_bytes_per_second.map(format_bytes), "bytes read/s"),
        (io.write_bytes_per_second.map(format_bytes), "bytes written/s"),
        (of.burst_iops.map(|iops| iops.to_string()), "operations/s in bursts"),
        (of.burst_credits.map(|credits| credits.to_string()), "burst credits"),
        (of.latency_us.map(|us| (us as f64 / 1e3).to_string()), "ms a request"),
    ];
    let limits: Vec<String> =
        limits.into_iter().filter_map(|(limit, of)| Some(format!("{} {of}", limit?))).collect();
    let size = format_bytes(bytes);
    if limits.is_empty() { size } else { format!("{size} with {}", limits.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::super::confinement::IoLimits;
    use super::*;

    fn narrow() -> Confinement {
        Confinement {
            server_cpus: Some("0".parse().unwrap()),
            memory_bytes: Some(512 << 20),
            io: IoLimits::of_iops(200),
            volume_bytes: Some(2 << 30),
            ..Confinement::default()
        }
    }

    #[test]
    fn parts_that_differ_are_told_in_words() {
        let wide = Confinement { memory_bytes: Some(512 << 20), ..Confinement::default() };
        let told: Vec<_> = LimitPart::differing(&wide, &narrow())
            .into_iter()
            .map(|part| (part.name(), part.value(&wide), part.value(&narrow())))
            .collect();
        let volume = "2G with 200 reads/s, 200 writes/s".to_owned();
        assert_eq!(
            told,
            [
                ("confinement.server_cpus", None, Some("0".to_owned())),
                ("confinement.volume", None, Some(volume)),
            ]
        );
    }

    #[test]
    fn volumes_that_differ_in_burst_credits_alone_are_told_apart() {
        let burst = |credits| Confinement {
            burst_iops: Some(3000),
            burst_credits: Some(credits),
            io: IoLimits::of_iops(100),
            ..Confinement::default()
        };
        let (few, many) = (burst(1000), burst(100_000));
        assert_eq!(LimitPart::differing(&few, &many), [LimitPart::Volume]);
        assert_ne!(LimitPart::Volume.value(&few), LimitPart::Volume.value(&many));
    }

    #[test]
    fn a_part_is_given_as_a_whole_and_alone() {
        let mut changed = Confinement::default();
        LimitPart::Volume.copy(&narrow(), &mut changed);
        assert_eq!(LimitPart::differing(&Confinement::default(), &changed), [LimitPart::Volume]);
        LimitPart::Volume.copy(&Confinement::default(), &mut changed);
        assert!(changed.is_none(), "what was given can be taken again");
    }

    #[test]
    fn a_volume_of_the_default_size_is_no_other_volume() {
        let io = Confinement { io: IoLimits::of_iops(200), ..Confinement::default() };
        let sized = Confinement { volume_bytes: io.volume_bytes(), ..io.clone() };
        assert_eq!(LimitPart::differing(&io, &sized), []);
    }
}

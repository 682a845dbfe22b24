//! Which instance and which volume of a price list a system needs.

use dyno_host::Confinement;
use dyno_store::{Price, PricedInstance, PricedVolume};

use super::list::PriceList;
use crate::plan::syntax::error::Problem;

/// A choice of an instance and a volume of a price list. Each of the two is the name of an entry or of a kind of
/// entries. If it is a kind, the cheapest sufficient entry of this kind is taken. With `None`, no instance or no volume
/// is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HardwareChoice {
    pub instance: Option<String>,
    pub volume: Option<String>,
}

/// The minimum that hardware must have. `None` accepts any hardware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HardwareNeed {
    pub cpus: Option<u64>,
    pub memory_bytes: Option<u64>,
    /// Reads a second or writes a second, whichever is larger.
    pub iops: Option<u64>,
    pub volume_bytes: Option<u64>,
}

impl HardwareNeed {
    /// Returns the hardware that a system needs to reach these limits.
    pub fn of(confinement: &Confinement) -> Self {
        Self {
            cpus: confinement.server_cpus.as_ref().map(|cpus| cpus.count() as u64),
            memory_bytes: confinement.memory_bytes,
            iops: confinement.io.read_iops.max(confinement.io.write_iops),
            volume_bytes: confinement.volume_bytes(),
        }
    }
}

/// An entry of a price list.
trait Entry: Clone {
    const WHAT: &'static str;
    fn name(&self) -> &str;
    fn kind(&self) -> Option<&str>;
    fn dollars_per_year(&self) -> f64;
    /// Returns what the entry lacks, in words. `None` if the entry is sufficient.
    fn lacks(&self, need: &HardwareNeed) -> Option<String>;
}

impl Entry for PricedInstance {
    const WHAT: &'static str = "instance";

    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    fn dollars_per_year(&self) -> f64 {
        self.dollars_per_year
    }

    fn lacks(&self, need: &HardwareNeed) -> Option<String> {
        let cpus = lack("CPUs", u64::from(self.cpus), need.cpus);
        cpus.or_else(|| lack("bytes of memory", self.memory_bytes, need.memory_bytes))
    }
}

impl Entry for PricedVolume {
    const WHAT: &'static str = "volume";

    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    fn dollars_per_year(&self) -> f64 {
        Self::dollars_per_year(self)
    }

    fn lacks(&self, need: &HardwareNeed) -> Option<String> {
        lack("IOPS", self.iops, need.iops).or_else(|| lack("bytes", self.size_bytes, need.volume_bytes))
    }
}

fn lack(what: &str, has: u64, need: Option<u64>) -> Option<String> {
    let need = need.filter(|need| *need > has)?;
    Some(format!("{has} {what}, not {need}"))
}

impl PriceList {
    /// Returns the price of a choice of hardware. The hardware must satisfy the need.
    ///
    /// # Errors
    /// The list has no such entry, or all such entries are too small.
    pub fn price(&self, choice: &HardwareChoice, need: &HardwareNeed) -> Result<Price, Problem> {
        let instance = choice.instance.as_deref().map(|name| self.choose(&self.instances, name, need));
        let volume = choice.volume.as_deref().map(|name| self.choose(&self.volumes, name, need));
        Ok(Price {
            list: self.name.clone(),
            date: self.date.clone(),
            source: self.source.clone(),
            instance: instance.transpose()?,
            volume: volume.transpose()?,
        })
    }

    /// Returns the price of the cheapest hardware that satisfies a need: an instance, and a volume if the list has
    /// volumes. An instance or a volume that `choice` names is taken instead of the cheapest.
    ///
    /// # Errors
    /// The same as those of [`price`](Self::price).
    pub fn cheapest(&self, choice: &HardwareChoice, need: &HardwareNeed) -> Result<Price, Problem> {
        let mut price = self.price(choice, need)?;
        if choice.instance.is_none() && !self.instances.is_empty() {
            price.instance = Some(self.cheapest_of(&self.instances, "instance", need)?);
        }
        if choice.volume.is_none() && !self.volumes.is_empty() {
            price.volume = Some(self.cheapest_of(&self.volumes, "volume", need)?);
        }
        Ok(price)
    }

    fn choose<T: Entry>(&self, entries: &[T], wanted: &str, need: &HardwareNeed) -> Result<T, Problem> {
        if let Some(entry) = entries.iter().find(|entry| entry.name() == wanted) {
            return match entry.lacks(need) {
                None => Ok(entry.clone()),
                Some(lack) => Err(Problem::Other(format!(
                    "the {} `{wanted}` has {lack}; name a larger one, or lower the system's limits",
                    T::WHAT
                ))),
            };
        }
        let of_kind: Vec<T> = entries.iter().filter(|entry| entry.kind() == Some(wanted)).cloned().collect();
        if of_kind.is_empty() {
            let names = entries.iter().map(Entry::name);
            let mut known: Vec<&str> = names.chain(entries.iter().filter_map(Entry::kind)).collect();
            known.sort_unstable();
            known.dedup();
            return Err(Problem::unknown(T::WHAT, wanted, known));
        }
        self.cheapest_of(&of_kind, &format!("{} of the kind `{wanted}`", T::WHAT), need)
    }

    fn cheapest_of<T: Entry>(&self, entries: &[T], what: &str, need: &HardwareNeed) -> Result<T, Problem> {
        let enough = entries.iter().filter(|entry| entry.lacks(need).is_none());
        let cheapest = enough.min_by(|a, b| a.dollars_per_year().total_cmp(&b.dollars_per_year()));
        cheapest.cloned().ok_or_else(|| {
            let lacks: Vec<String> = entries
                .iter()
                .filter_map(|entry| Some(format!("{} has {}", entry.name(), entry.lacks(need)?)))
                .collect();
            Problem::Other(format!(
                "the price list {} has no {what} that is large enough: {}; add one to the list",
                self.name,
                lacks.join("; ")
            ))
        })
    }
}

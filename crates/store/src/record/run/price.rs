//! The price of a system's hardware.

use serde::{Deserialize, Serialize};

/// Hours in a year of 365 days. Prices per hour are shown as prices per year.
const HOURS_PER_YEAR: f64 = 8760.0;

/// The hardware of a system with its price from a price list, in US dollars.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// The list's name.
    pub list: String,
    /// The day on which the prices of the list were valid, such as `2018-08-01`.
    pub date: String,
    /// The source of the list's prices.
    pub source: String,
    /// The machine; `None` if the price is for a volume only.
    pub instance: Option<PricedInstance>,
    /// The volume; `None` if the price is for a machine only.
    pub volume: Option<PricedVolume>,
}

/// A rented machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PricedInstance {
    pub name: String,
    /// The machine's family in the price list, such as `c5`.
    pub kind: Option<String>,
    pub cpus: u32,
    pub memory_bytes: u64,
    pub dollars_per_year: f64,
}

/// A rented volume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PricedVolume {
    pub name: String,
    /// The volume's family in the price list, such as `gp2`.
    pub kind: Option<String>,
    pub size_bytes: u64,
    /// Number of reads and writes per second that the volume supports.
    pub iops: u64,
    pub storage_dollars_per_year: f64,
    /// Price of the volume's `iops`, which is added to the price of the storage.
    pub iops_dollars_per_year: f64,
}

impl PricedVolume {
    /// The price of storage and IOPS together.
    pub fn dollars_per_year(&self) -> f64 {
        self.storage_dollars_per_year + self.iops_dollars_per_year
    }
}

impl Price {
    /// The price of the instance and the volume together.
    pub fn dollars_per_year(&self) -> f64 {
        let instance = self.instance.as_ref().map_or(0.0, |instance| instance.dollars_per_year);
        instance + self.volume.as_ref().map_or(0.0, PricedVolume::dollars_per_year)
    }
}

/// Converts a price per hour to a price per year.
pub(crate) fn by_the_year(dollars_per_hour: f64) -> f64 {
    dollars_per_hour * HOURS_PER_YEAR
}

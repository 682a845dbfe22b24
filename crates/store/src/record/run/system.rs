//! Systems under test.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::price::{Price, by_the_year};

/// Source of a system's engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Dyno's catalogue, or the user's additions to it.
    #[default]
    Catalogue,
    /// The user's own build, in a folder.
    Basedir,
    /// An image of a container.
    Image,
    /// An existing server. Dyno does not start or confine it.
    Dsn,
}

impl Origin {
    /// The word for the source in the results file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Catalogue => "catalogue",
            Self::Basedir => "basedir",
            Self::Image => "image",
            Self::Dsn => "dsn",
        }
    }
}

/// A system under test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemRecord {
    /// The system's id in the plan (`mysql56`).
    pub id: String,
    /// Engine and storage engine as the plan names them (`mysql@5.6.24/innodb`).
    pub name: String,
    /// The version that the server reports; `None` until it has started once.
    pub engine_version: Option<String>,
    /// Position in the plan, from 0.
    pub position: u32,
    /// Whether the other systems are compared with this system.
    pub is_base: bool,
    /// Whether the system is the anchor, which is the same in all runs. When runs are compared with each other, the
    /// figures of the other systems are divided by the anchor's figures.
    pub is_anchor: bool,
    /// The settings that the plan requests.
    pub requested_settings: serde_json::Value,
    /// Every variable that the server reports, as name and effective value.
    pub variables: Vec<(String, String)>,
    pub origin: Origin,
    /// The id of another system that this system repeats unchanged, as a control (an A/A pair). Any difference
    /// between the two systems is noise.
    pub control_of: Option<String>,
    pub profile: Option<String>,
    /// The limits on the hardware that the system may use; `None` if it could use the whole host.
    pub confinement: Option<serde_json::Value>,
    /// Price of the system's hardware per hour, in US dollars, if the plan states a price instead of naming a price
    /// list.
    pub dollars_per_hour: Option<f64>,
    /// The price of the system's hardware from a price list, if the plan names a list.
    pub price: Option<Price>,
    /// Encryption of connections to a server that Dyno did not start: version and cipher of TLS, or the text `none`.
    /// `None` if Dyno started the server, or has not reached the server yet.
    pub encryption: Option<String>,
    /// The name and digest of the container image of the system's server. `None` for a server without an image, and
    /// before the first start.
    pub image: Option<String>,
    /// The system's factor levels in a sweep; `None` if the system is not part of a sweep.
    pub configuration: Option<Configuration>,
}

impl SystemRecord {
    /// The settings that the plan requests, as text.
    pub fn asked(&self) -> BTreeMap<String, String> {
        let text =
            |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let asked = self.requested_settings.as_object().into_iter().flatten();
        asked.map(|(name, value)| (name.clone(), text(value))).collect()
    }

    /// Price of the system's hardware per year, in US dollars, from a price list or from the price per hour. `None`
    /// if the plan has neither.
    pub fn dollars_per_year(&self) -> Option<f64> {
        let by_list = self.price.as_ref().map(Price::dollars_per_year);
        by_list.or_else(|| self.dollars_per_hour.map(by_the_year))
    }
}

/// The factor levels of a system in a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// The id that the plan gives the sweep.
    pub sweep: String,
    /// Each factor with its level, in the plan's order.
    pub levels: Vec<FactorLevel>,
}

/// A factor of a sweep at one of its levels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactorLevel {
    /// The name of a setting or of a limit. For several settings or limits that change together, the name that the plan
    /// gives them.
    pub factor: String,
    /// The value of the factor.
    pub level: String,
}

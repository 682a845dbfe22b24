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
    /// The word that the results file uses.
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
    /// Its id in the plan (`mysql56`).
    pub id: String,
    /// Engine and storage engine as the plan names them (`mysql@5.6.24/innodb`).
    pub name: String,
    /// The version that the server reports; `None` until it has started once.
    pub engine_version: Option<String>,
    /// Position in the plan, from 0.
    pub position: u32,
    /// Whether the others are compared with this one.
    pub is_base: bool,
    /// Whether it is the run's anchor, which each session measures unchanged. When runs are compared with
    /// each other, the figures of the others are multiples of the anchor's.
    pub is_anchor: bool,
    /// The settings that the plan requests.
    pub requested_settings: serde_json::Value,
    /// Every variable that the server reports, as name and effective value.
    pub variables: Vec<(String, String)>,
    pub origin: Origin,
    /// The system of which it is the control (an A/A pair). Their difference is noise.
    pub control_of: Option<String>,
    pub profile: Option<String>,
    /// Its confinement; `None` if it had the whole host.
    pub confinement: Option<serde_json::Value>,
    /// Price of its hardware per hour, in US dollars, if the plan states one instead of naming a price list.
    pub dollars_per_hour: Option<f64>,
    /// The price of its hardware by a list, if the plan names one.
    pub price: Option<Price>,
    /// How connections to a server that ran already are encrypted: version and cipher of TLS, or `none`. `None` if Dyno
    /// started the server, or has not reached it yet.
    pub encryption: Option<String>,
    /// The image of its server, by name and digest. `None` for other systems, and before the first start.
    pub image: Option<String>,
    /// Its place in a sweep, if it is part of one.
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

    /// Price of its hardware per year, in US dollars, from a list or from the price per hour; `None` without
    /// either.
    pub fn dollars_per_year(&self) -> Option<f64> {
        let by_list = self.price.as_ref().map(Price::dollars_per_year);
        by_list.or_else(|| self.dollars_per_hour.map(by_the_year))
    }
}

/// The place of a system in a sweep.
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
    /// A setting, a limit, or the plan's name for several of them.
    pub factor: String,
    /// Its value.
    pub level: String,
}

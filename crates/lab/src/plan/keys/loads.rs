//! The plan keys `load` and `rounds_per_load`.

use serde::Deserialize;

use crate::plan::keys::systems::system::System;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{At, Whole};

/// The plan's key `load`.
#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "kebab-case")]
pub(in crate::plan) enum Loads {
    #[default]
    Once,
    EveryRound,
}

/// The plan's key `rounds_per_load`. The limit catches typing errors.
pub(in crate::plan) type RoundsPerLoad = Whole<2, 1000>;

/// Returns the number of rounds that use one load, or `None` if the plan does not set it.
pub(in crate::plan) fn rounds_per_load(
    key: Option<At<RoundsPerLoad>>,
    loads: Loads,
    reuse_data: bool,
    systems: &[System],
) -> Result<Option<u32>, Mistake> {
    let Some(key) = key else { return Ok(None) };
    let contradiction = if loads == Loads::EveryRound {
        Some("`load = \"every-round\"` loads in every round")
    } else if reuse_data {
        Some("`reuse_data` keeps the load of an earlier run")
    } else if systems.iter().any(|system| system.data_settings.is_some()) {
        Some("configurations of a sweep share one load")
    } else {
        None
    };
    match contradiction {
        Some(why) => Err(key.wrong(format!("{why}; leave that or `rounds_per_load` out"))),
        None => Ok(Some(key.into_inner().0 as u32)),
    }
}

//! The plan key `rate`: events due a second.

use dyno_load::{Rate, RatePoint, Spacing};
use serde::Deserialize;

use crate::plan::syntax::error::Problem;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{Above0, At, From0};

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) enum RateKey {
    #[serde(rename = "a number")]
    #[cfg_attr(test, schemars(untagged))]
    Steady(Above0),
    #[serde(rename = "a list")]
    #[cfg_attr(test, schemars(untagged))]
    Points(Vec<At<PointTable>>),
}

/// A point in time.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct PointTable {
    /// Seconds since the trial began.
    at_seconds: From0,
    /// Events a second.
    per_second: From0,
}

impl RateKey {
    pub(super) fn read(self, spacing: Spacing) -> Result<Rate, Mistake> {
        let list = match self {
            Self::Steady(rate) => return Ok(Rate { spacing, ..Rate::steady(rate.0) }),
            Self::Points(list) => list,
        };
        if let Some(pair) = list.windows(2).find(|pair| pair[0].at_seconds.0 > pair[1].at_seconds.0) {
            let wanted = "in order of time".to_owned();
            return Err(pair[1].wrong(Problem::OutOfRange { key: "at_seconds".to_owned(), wanted }));
        }
        let point =
            |it: &At<PointTable>| RatePoint { at_seconds: it.at_seconds.0, per_second: it.per_second.0 };
        Ok(Rate { points: list.iter().map(point).collect(), spacing })
    }
}

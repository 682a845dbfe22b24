//! The plan's tables `[[claim]]`.

use dyno_store::{ClaimRecord, StepRecord, SystemRecord, is_counter};
use serde::Deserialize;

use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::At;

/// A claim about the results.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct ClaimTable {
    /// Its name.
    id: String,
    /// Such as ratio(b, a, tps, point-query, 1) > 2; docs/reference/claims.md.
    expression: At<String>,
    /// The claim in words.
    says: String,
    /// The published figure.
    published: Option<f64>,
    /// The source of the published figure.
    source: Option<String>,
}

impl ClaimTable {
    /// Checks that the expression is valid, and that its systems and steps are in the plan. A claim can use a counter
    /// of the servers only if the plan lists the counter, because the results contain no others.
    pub(in crate::plan) fn read(
        self,
        systems: &[SystemRecord],
        steps: &[StepRecord],
        counters: &[String],
    ) -> Result<ClaimRecord, Mistake> {
        let Self { id, expression, says, published, source } = self;
        let expression = expression.read(|text| {
            let claim = dyno_judge::Claim::parse(&text).map_err(|error| error.to_string())?;
            claim.check(systems, steps).map_err(|error| error.to_string())?;
            let is_listed = |name: &str| {
                counters.iter().any(|listed| is_counter(name, listed) || is_counter(listed, name))
            };
            match claim.counters().find(|name| !is_listed(name)) {
                Some(name) => {
                    Err(format!("the counter `{name}` is not in the plan's `counters`; add it there"))
                }
                None => Ok(text),
            }
        })?;
        Ok(ClaimRecord { id, expression, says, published, source })
    }
}

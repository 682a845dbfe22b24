//! The plan's tables `[[claim]]`.

use dyno_store::{StepRecord, SystemRecord};

use super::error::Problem;
use super::table::{Mistake, Value};

/// A claim about the results, which reports judge.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Its name in this plan.
    pub id: String,
    /// The claim as an expression.
    pub expression: String,
    /// The claim in words.
    pub says: String,
    /// The published figure.
    pub published: Option<f64>,
    /// The publication.
    pub source: Option<String>,
}

pub(super) fn claim(
    value: Value<'_>,
    systems: &[SystemRecord],
    steps: &[StepRecord],
) -> Result<Claim, Mistake> {
    let keys = ["id", "expression", "says", "published", "source"];
    let mut table = value.table("a [[claim]]", &keys)?;
    Ok(Claim {
        id: table.required("id")?.text()?,
        expression: expression(table.required("expression")?, systems, steps)?,
        says: table.required("says")?.text()?,
        published: table.optional("published").map(Value::number).transpose()?,
        source: table.optional("source").map(Value::text).transpose()?,
    })
}

/// Reads an expression, and checks that its systems and steps are in the plan.
fn expression(value: Value<'_>, systems: &[SystemRecord], steps: &[StepRecord]) -> Result<String, Mistake> {
    let span = value.span.clone();
    let text = value.text()?;
    match dyno_judge::Claim::parse(&text).and_then(|claim| claim.check(systems, steps)) {
        Ok(()) => Ok(text),
        Err(error) => Err((span, Problem::Other(error.to_string()))),
    }
}

//! Claims: what a plan says will be found.

use dyno_store::{StepRecord, SystemRecord};

use super::error::Problem;
use super::table::{Mistake, Value};

/// Something that a plan says will be found, to be held against what is.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Its name in this plan.
    pub id: String,
    /// The claim as an expression that can be judged.
    pub expression: String,
    /// The claim in words.
    pub says: String,
    /// The figure of whoever said it first.
    pub published: Option<f64>,
    /// Where they said it.
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

/// A claim that can be read and names what the plan has.
fn expression(value: Value<'_>, systems: &[SystemRecord], steps: &[StepRecord]) -> Result<String, Mistake> {
    let span = value.span.clone();
    let text = value.text()?;
    match dyno_judge::Claim::parse(&text).and_then(|claim| claim.check(systems, steps)) {
        Ok(()) => Ok(text),
        Err(error) => Err((span, Problem::Other(error.to_string()))),
    }
}

//! The settings that the servers of a run reported, as the audit sees them.

use dyno_settings::{Product, SystemFacts};
use dyno_store::SystemRecord;

/// The facts of a system whose product is known.
pub fn facts(system: &SystemRecord, product: Product) -> SystemFacts {
    let variables = system.variables.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
    SystemFacts {
        id: system.id.clone(),
        product,
        variables: variables.collect(),
        asked: system.asked(),
        limits: None,
    }
}

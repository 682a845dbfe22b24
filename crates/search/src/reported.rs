//! The settings that a run's servers reported, in the form that the settings audit needs.

use dyno_settings::{Product, SystemFacts};
use dyno_store::SystemRecord;

/// Returns the facts of a system of a known product.
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

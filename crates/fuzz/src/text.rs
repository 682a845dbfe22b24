//! Texts that users write: addresses and plans.

use std::path::Path;
use std::sync::OnceLock;

use dyno_engine::{Catalogue, Dsn};
use dyno_lab::Plan;

/// Parses a server's address and formats it as reports do.
pub(crate) fn dsn(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Dsn::parse(&text) {
        Ok(dsn) => {
            let _ = (dsn.to_string(), dsn.has_clear_password());
        }
        Err(error) => {
            let _ = error.to_string();
        }
    }
}

/// Parses a plan and prepares it as a run would.
pub(crate) fn plan(bytes: &[u8]) {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    let catalogue = CATALOGUE.get_or_init(Catalogue::builtin);
    let text = String::from_utf8_lossy(bytes);
    match Plan::parse(&text, "fuzzed.toml", Path::new("/nonexistent"), catalogue) {
        Ok(plan) => {
            let scaled = plan.scale_of("0.01").map(|scale| plan.clone().scaled(&scale));
            drop(scaled);
        }
        Err(error) => {
            let _ = error.to_string();
        }
    }
}

//! Settings of servers: one profile for many versions, what differs between two servers, and whether they may be
//! compared. Pure functions over data; what is known of variables is in `settings/`.
//!
//! A [`Profile`] says what is wanted, once; the translation table says how a [`Product`] writes it. [`drift`]
//! compares what two servers say of themselves, and [`audit`] what that means for a comparison.

mod assignment;
mod audit;
mod data;
mod drift;
mod knowledge;
mod near;
mod product;
mod profile;
mod translation;
mod value;
mod variables;

pub use assignment::Assignment;
pub use audit::{
    Audit, AuditFinding, Durability, HostChecks, RuleInfo, Severity, SystemDurability, SystemFacts, audit,
    rules,
};
pub use drift::{Difference, Side, drift};
pub use knowledge::{Group, Knowledge, knowledge};
pub use product::{Product, Version, VersionError};
pub use profile::{Problem, Profile, ProfileError, Section, builtin_profiles};
pub use translation::{LeftOut, SettingsError, Translation, known_settings, translate};
pub use value::{bytes, is_on, normal};
pub use variables::{Origin, Reading, SystemVariables, Variable, readings};

//! Settings of servers: profiles for many versions, differences between two servers, and whether servers are
//! comparable. The crate consists of pure functions over data. Knowledge of variables is in `settings/`.
//!
//! A [`Profile`] has the wanted settings. The translation table has the form in which each [`Product`] writes them.
//! [`drift`] compares the variables of two servers, [`not_in_force`] compares requested settings with a server's
//! report, and [`audit`] judges whether servers are comparable.
//!
//! # Why
//!
//! Settings are a crate of their own, because their meaning depends on neither running servers nor plans.

mod audit;
mod drift;
mod facts;
mod files;
mod in_force;
mod profile;
mod translation;
mod tune;

pub use audit::{
    Audit, AuditFinding, CrashKind, Durability, HostChecks, Loss, Promise, RuleInfo, Severity,
    SystemDurability, SystemFacts, SystemLimits, audit, rules,
};
pub use drift::{Difference, Side, drift};
pub use facts::assignment::Assignment;
pub use facts::product::{Product, Version, VersionError};
pub use facts::value::{bytes, is_on, normal};
pub use facts::variables::{Origin, Reading, SystemVariables, Variable, readings};
pub use files::knowledge::{Group, Knowledge, knowledge, newest_name};
pub use files::probes::{is_of_data, is_of_version, plain_name, together};
pub use in_force::{NotInForce, has_effect};
pub use profile::{Problem, Profile, ProfileError, Section, builtin_profiles};
pub use translation::{LeftOut, SettingsError, Translation, known_settings, translate};
pub use tune::{NotTuned, TuneRoom, TuneSpace, TunedSetting, TunedValue, tune_space};

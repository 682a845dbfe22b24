//! Reports other than the report on a run: comparisons, prices, causes, histories, studies, traffic, tuning,
//! upgrades.

pub(crate) mod compare;
pub(crate) mod cost;
pub(crate) mod explain;
pub(crate) mod history;
pub(crate) mod study;
pub(crate) mod traffic;
pub(crate) mod tune;
pub(crate) mod upgrade;

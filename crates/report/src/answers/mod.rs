//! Reports on other questions than a run's: comparisons, prices, causes, histories, tuning.

pub(crate) mod compare;
pub(crate) mod cost_answer;
pub(crate) mod explain;
pub(crate) mod history;
pub(crate) mod tune;

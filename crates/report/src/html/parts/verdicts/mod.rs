//! Sections about verdicts: what was found, why, and how sure it is.

pub(in crate::html) mod banner;
pub(in crate::html) mod claims;
pub(in crate::html) mod forest;
pub(in crate::html) mod undecided;
pub(in crate::html) mod verdict;
pub(in crate::html) mod why;

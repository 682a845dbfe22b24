//! Sections about verdicts: the findings, their causes, and how certain they are.

pub(in crate::html) mod banner;
pub(in crate::html) mod claims;
pub(in crate::html) mod forest;
pub(in crate::html) mod undecided;
pub(in crate::html) mod verdict;
pub(in crate::html) mod why;

//! Tests and verdicts: p-values, corrections for many tests, sequential looks.

pub(crate) mod max_t;
pub(crate) mod moderation;
pub(crate) mod multiple;
pub(crate) mod one_way;
pub(crate) mod sequential;
pub(crate) mod verdict;

//! Sections of a page.

pub(in crate::html) mod contents;
pub(in crate::html) mod eventful;
pub(in crate::html) mod explained;
pub(in crate::html) mod joined;
pub(in crate::html) mod matrix;
pub(in crate::html) mod methods;
pub(in crate::html) mod money;
pub(in crate::html) mod scaling;
pub(in crate::html) mod stacks;
pub(in crate::html) mod verdicts;
pub(in crate::html) mod views;

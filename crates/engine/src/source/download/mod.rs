//! Downloads: the network, mirrors, checksums, tools.

pub(in crate::source) mod curl;
pub(in crate::source) mod integrity;
pub(in crate::source) mod mirror;
pub(in crate::source) mod network;
pub(in crate::source) mod progress;
pub(in crate::source) mod sums;
pub(in crate::source) mod tool;
pub(in crate::source) mod word;

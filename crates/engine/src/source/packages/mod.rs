//! Package managers: each finds, downloads and unpacks packages.

pub(in crate::source) mod apt;
pub(in crate::source) mod apt_get;
pub(in crate::source) mod deb;
pub(in crate::source) mod debian;
pub(in crate::source) mod maven;
pub(in crate::source) mod npm;
pub(in crate::source) mod pip;

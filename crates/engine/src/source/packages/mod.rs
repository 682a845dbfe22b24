//! Debian packages: which there are, and how one is unpacked.

pub(in crate::source) mod apt_get;
pub(in crate::source) mod deb;
pub(in crate::source) mod debian;

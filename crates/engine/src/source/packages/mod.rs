//! Debian packages: finding and unpacking them.

pub(in crate::source) mod apt_get;
pub(in crate::source) mod deb;
pub(in crate::source) mod debian;

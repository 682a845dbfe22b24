//! Values and columns of results.

pub(in crate::mysql) mod binary;
pub(in crate::mysql) mod column;
pub(in crate::mysql) mod number;
pub(in crate::mysql) mod temporal;

//! Command bytes: the first byte of each packet that requests something from the server.

pub(super) const QUIT: u8 = 0x01;
pub(super) const QUERY: u8 = 0x03;
pub(super) const STMT_PREPARE: u8 = 0x16;
pub(super) const STMT_EXECUTE: u8 = 0x17;
pub(super) const STMT_CLOSE: u8 = 0x19;

//! Packets: reads and writes them, compressed or not.

pub(in crate::mysql) mod compressed;
pub(in crate::mysql) mod compression;
pub(in crate::mysql) mod output;
pub(in crate::mysql) mod packets;
pub(in crate::mysql) mod reader;

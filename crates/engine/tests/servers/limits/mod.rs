//! Tests of servers with limited resources (confined) and with restricted rights (fenced).

pub(crate) mod confined;
mod fenced;

//! What scripts call: the database, random numbers, reports, and Lua's modules.

mod modules;
mod random;
mod reports;
mod sql;
mod statements;
mod tpch;

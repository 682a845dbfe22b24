//! The sysbench Lua API. Each test is a script with its output, its requests or its error.

mod commands;
mod errors;
mod events;
mod interrupt;
mod legacy;
mod memory;
mod modules;
mod options;
mod published;
mod random;
mod reports;
mod sql;
mod statements;
mod support;
mod tasks;
mod tpch;

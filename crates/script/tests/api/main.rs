//! The sysbench Lua API as scripts see it: each test is a script and what it prints, asks for, or fails with.

mod commands;
mod errors;
mod events;
mod interrupt;
mod modules;
mod options;
mod published;
mod random;
mod reports;
mod sql;
mod statements;
mod support;
mod tasks;

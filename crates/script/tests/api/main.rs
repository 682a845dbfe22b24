//! The sysbench Lua API. Each test is a script with its output, its requests or its error.

mod calls;
mod commands;
mod legacy;
mod options;
mod published;
mod running;
mod support;

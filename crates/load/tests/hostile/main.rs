//! Servers that break the protocol, or the connection. Each is named in an error of one line, and none makes
//! a job panic, hang or fill memory.

mod answers;
mod behaviours;
mod job;
mod listener;
mod logins;
mod mysql;
mod pgsql;

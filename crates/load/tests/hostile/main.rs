//! Servers that break the protocol or the connection. Each causes an error of one line that names the fault. No
//! server makes a job panic, hang or fill memory.

mod answers;
mod behaviours;
mod job;
mod listener;
mod logins;
mod mysql;
mod pgsql;

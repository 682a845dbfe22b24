//! Servers that break the protocol or the connection. Each job ends with an error of one line that names the fault, or
//! with the outcome that the test states. No server makes a job panic, hang or fill memory.

mod answers;
mod behaviours;
mod job;
mod listener;
mod logins;
mod mysql;
mod pgsql;

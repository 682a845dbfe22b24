//! How scripts run: their events and tasks, and what ends them.

mod errors;
mod events;
mod interrupt;
mod memory;
mod tasks;

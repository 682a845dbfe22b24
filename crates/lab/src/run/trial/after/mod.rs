//! What follows a measurement: crashes, and passes that would disturb it.

mod crash;
mod query;
mod stacks;
mod statement_plans;

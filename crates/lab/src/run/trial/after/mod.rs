//! Runs what follows a measurement: crashes and passes. A pass is a repeated load or a request to the server, which
//! would have disturbed the measurement.

mod crash;
mod query;
mod stacks;
mod statement_plans;

//! How Dyno behaves when its input or its machine is faulty.

pub(crate) mod faults;
pub(crate) mod fuzz;

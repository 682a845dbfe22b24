//! One trial: its figures, its checks, and whether it counts.

pub(crate) mod check;
pub(crate) mod disturbance;
pub(crate) mod done;
pub(crate) mod drivers;
pub(crate) mod evidence;
pub(crate) mod in_force;
pub(crate) mod latency;
pub(crate) mod member;
pub(crate) mod of_run;
pub(crate) mod own_steal;
pub(crate) mod quantity;
pub(crate) mod stall;
pub(crate) mod steps;

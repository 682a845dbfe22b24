//! Sections of tables, for the formats that people read.

pub(crate) mod capacity_tables;
pub(crate) mod check_tables;
pub(crate) mod cost_tables;
pub(crate) mod counter_tables;
pub(crate) mod crash_tables;
pub(crate) mod driver_tables;
pub(crate) mod frontier;
pub(crate) mod host_tables;
pub(crate) mod joined_tables;
pub(crate) mod ladder_tables;
pub(crate) mod left_out;
pub(crate) mod query_plans;
pub(crate) mod repeated_tables;
pub(crate) mod scaling_tables;
pub(crate) mod section;
pub(crate) mod stack_tables;
pub(crate) mod steady_state;
pub(crate) mod sweep_tables;
pub(crate) mod table;
pub(crate) mod tables;
pub(crate) mod transpose;

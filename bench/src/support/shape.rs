//! The load that Dyno and sysbench send.

use clap::Args;

/// The load that both Dyno and sysbench send.
#[derive(Args, Clone, Debug)]
pub(crate) struct Shape {
    /// A workload that both Dyno and sysbench have.
    #[arg(long, default_value = "oltp_point_select")]
    pub(crate) workload: String,
    /// Tables.
    #[arg(long, default_value_t = 4)]
    pub(crate) tables: u32,
    /// Rows per table.
    #[arg(long, default_value_t = 50_000)]
    pub(crate) rows: u32,
    /// Seconds per measurement.
    #[arg(long, default_value_t = 5)]
    pub(crate) seconds: u32,
    /// Send statements as text.
    #[arg(long)]
    pub(crate) unprepared: bool,
}

impl Shape {
    /// The load that is measured unless the user asks for another.
    pub(crate) fn point_selects() -> Self {
        let workload = "oltp_point_select".to_owned();
        Self { workload, tables: 4, rows: 50_000, seconds: 5, unprepared: false }
    }
}

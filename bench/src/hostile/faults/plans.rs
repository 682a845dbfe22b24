//! Small plans with several rounds. Their runs take a few seconds.

/// The plan of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlanKind {
    /// Two configurations of SQLite, in turns.
    Sqlite,
    /// MariaDB and PostgreSQL, in turns.
    Servers,
    /// MariaDB and PostgreSQL in turns, each with a memory limit and its own volume.
    Confined,
}

/// Number of rounds in each plan.
pub(super) const ROUNDS: u32 = 3;
/// Measured seconds of each trial that is not a load.
pub(super) const SECONDS: f64 = 0.6;
/// Number of systems in each plan.
pub(super) const SYSTEMS: u32 = 2;
/// Number of rows that a load inserts.
pub(super) const ROWS: u32 = 400;

impl PlanKind {
    pub(super) const ALL: [Self; 3] = [Self::Sqlite, Self::Servers, Self::Confined];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "faults-sqlite",
            Self::Servers => "faults-servers",
            Self::Confined => "faults-confined",
        }
    }

    /// Returns the longest time, in seconds, from the start of a run to its first fault. It covers most of the run.
    pub(super) fn window_seconds(self) -> f64 {
        match self {
            Self::Sqlite => 5.0,
            Self::Servers => 10.0,
            Self::Confined => 12.0,
        }
    }

    pub(super) fn text(self) -> String {
        let name = self.name();
        let half = ROWS / 2;
        let systems = match self {
            Self::Sqlite => {
                "[[system]]\nid = 'rollback'\nengine = 'sqlite'\nsettings = { journal_mode = 'DELETE' }\n\
                 [[system]]\nid = 'wal'\nengine = 'sqlite'\nsettings = { journal_mode = 'WAL' }\n"
            }
            Self::Servers | Self::Confined => {
                "[[system]]\nid = 'mariadb'\nengine = 'mariadb@10.11/innodb'\n\
                 settings = { innodb_buffer_pool_size = '32M' }\n\
                 [[system]]\nid = 'postgres'\nengine = 'postgres@18.4'\nsettings = { shared_buffers = '32MB' }\n"
            }
        };
        let base = if self == Self::Sqlite { "rollback" } else { "mariadb" };
        let confinement = match self {
            Self::Confined => "[confinement]\nmemory = '400M'\nvolume = '500M'\n",
            _ => "",
        };
        format!(
            "name = '{name}'\ntitle = 'Faults'\nbase = '{base}'\nrounds = {ROUNDS}\nclients = [2]\nseconds = {SECONDS}\n\
             keep_cores_awake = false\n[data]\ntables = 2\nrows = {half}\n{confinement}{systems}\
             [[step]]\nid = 'load'\ngroup = 'load'\ncommand = 'prepare'\nworkload = 'oltp_insert'\noperation = 'row'\n\
             [[step]]\nid = 'turns'\ngroup = 'all'\nworkload = 'oltp_update_index'\noperation = 'query'\n\
             [[step]]\nid = 'whole'\ngroup = 'all'\nworkload = 'oltp_read_write'\noperation = 'transaction'\n\
             slice_seconds = 'whole'\n"
        )
    }
}

//! Data that a server gets before it is measured: dumps, data folders of other servers, and upgrades of both.

mod database;
mod dump;
mod folder;
mod upgrade;

pub use dump::{DumpError, StatementError, Statements, execute_file, load_dump};
pub use folder::{DataFolderError, check_data_folder};
pub use upgrade::{UpgradeError, UpgradeWay, has_pg_upgrade, start_upgraded, upgrade_path};

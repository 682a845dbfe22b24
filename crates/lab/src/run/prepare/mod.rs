//! Prepares a run before its first round: fetches engines, makes data, and finds an interrupted run.

mod data;
mod executed;
mod expected;
mod forecast;
mod install;
mod outline;
mod resume;
mod script_check;
mod sweep_budget;

pub(crate) use self::data::give_data;
pub(crate) use self::executed::Executed;
pub(crate) use self::forecast::Forecast;
pub(crate) use self::install::{Installed, check_confinements, check_power_cuts, do_without, install_all};
pub use self::outline::{Outline, OutlineBlock};
pub(crate) use self::resume::{check_images, find_interrupted, resumption};
pub use self::script_check::ScriptMistake;

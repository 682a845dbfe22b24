//! Confines a server to a part of the host: CPUs, memory, and a volume with limits of I/O.

mod cgroup;
mod confined;
mod confinement;
mod cpu_set;
mod credits;
pub(crate) mod error;
pub(crate) mod holding;
mod in_force;
mod missing;
mod part;
pub(crate) mod rights;
mod shared_groups;
mod size;
pub(crate) mod volume;

pub use cgroup::IoCounts;
pub(crate) use cgroup::{
    Controller, HierarchyPosition, NO_LIMIT_BYTES, Tree, Version, oom_kills_in_own_group,
};
pub use confined::{Confined, Entrance};
pub use confinement::{Confinement, DEFAULT_VOLUME_BYTES, IoLimits, LimitError};
pub use cpu_set::{CpuSet, CpuSetError, pin_command};
pub use error::ConfineError;
pub use holding::{remove_leftovers, volumes};
pub use in_force::{InForce, LimitDifference, NotLimited, ReadBack};
pub use missing::{Lack, Missing};
pub use part::LimitPart;
pub use shared_groups::share_groups;
pub use size::{SizeError, parse_bytes};

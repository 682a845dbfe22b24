//! The kinds of faults, and the plans into whose runs each can be injected.

use super::plans::PlanKind;

/// A fault that can be injected into a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    DynoKilled,
    DynoInterrupted,
    DynoTerminated,
    LoadKilled,
    LoadStopped,
    ServerKilled,
    ServerStopped,
    ResultsDiskFull,
    ResultsDiskFullForLong,
    DataDiskFull,
    VolumeFull,
    NoRightToWrite,
    SecondResume,
}

impl Kind {
    pub(super) const ALL: [Self; 13] = [
        Self::DynoKilled,
        Self::DynoInterrupted,
        Self::DynoTerminated,
        Self::LoadKilled,
        Self::LoadStopped,
        Self::ServerKilled,
        Self::ServerStopped,
        Self::ResultsDiskFull,
        Self::ResultsDiskFullForLong,
        Self::DataDiskFull,
        Self::VolumeFull,
        Self::NoRightToWrite,
        Self::SecondResume,
    ];

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::DynoKilled => "`dyno` killed (SIGKILL)",
            Self::DynoInterrupted => "^C to `dyno` and all it started",
            Self::DynoTerminated => "`dyno` terminated (SIGTERM)",
            Self::LoadKilled => "`dyno drive` killed (SIGKILL)",
            Self::LoadStopped => "`dyno drive` stopped for a while (SIGSTOP)",
            Self::ServerKilled => "process of a server killed (SIGKILL)",
            Self::ServerStopped => "server stopped for a while (SIGSTOP)",
            Self::ResultsDiskFull => "disk of the results file full for 1 s",
            Self::ResultsDiskFullForLong => "disk of the results file full until `dyno` ends",
            Self::DataDiskFull => "disk of the data full for 2 s",
            Self::VolumeFull => "confined volume full for 2 s",
            Self::NoRightToWrite => "folder of the data not writable for 2 s",
            Self::SecondResume => "a second `--resume` of the same run",
        }
    }

    /// Whether a fault of this kind can be injected into a run of the plan.
    pub(super) fn fits(self, plan: PlanKind, is_root: bool) -> bool {
        match self {
            Self::ServerKilled | Self::ServerStopped => plan != PlanKind::Sqlite,
            Self::VolumeFull => plan == PlanKind::Confined,
            // This fault needs a file system in memory, which only root can mount.
            Self::DataDiskFull => is_root && plan != PlanKind::Confined,
            Self::ResultsDiskFull | Self::ResultsDiskFullForLong => is_root,
            _ => true,
        }
    }

    /// Whether the fault ends the whole run. If it does, trials that were in progress must not count as good.
    pub(super) fn hits_all(self) -> bool {
        matches!(self, Self::DynoKilled | Self::DynoInterrupted | Self::DynoTerminated)
    }
}

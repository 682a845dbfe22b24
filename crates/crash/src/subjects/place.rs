//! The folder or volume of the data, and how its power is cut.

use std::path::Path;

use dyno_engine::Scratch;
use dyno_host::{CutWrites, VolatileVolume};
use dyno_settings::CrashKind;
use dyno_stats::SplitMix64;

use crate::error::CrashError;
use crate::options::{CrashOptions, CrashedSystem};

/// The folder or volume of the data.
#[derive(Debug)]
pub(crate) enum Place {
    /// The folder that a server chooses by itself.
    OfServer,
    Folder(Scratch),
    Volume(VolatileVolume),
}

impl Place {
    pub(crate) fn create(system: &CrashedSystem, options: &CrashOptions) -> Result<Self, CrashError> {
        let parent = &system.data_root;
        let failed = |source| CrashError::File { action: "create a folder in", path: parent.clone(), source };
        Ok(match options.kind {
            CrashKind::Power => Self::Volume(VolatileVolume::create(parent, options.volume_bytes)?),
            CrashKind::Process if system.installation.entry.family.has_server() => Self::OfServer,
            CrashKind::Process => Self::Folder(Scratch::create(parent).map_err(failed)?),
        })
    }

    /// The folder for the data; `None` if the server chooses it.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            Self::OfServer => None,
            Self::Folder(folder) => Some(folder.path()),
            Self::Volume(volume) => Some(volume.folder()),
        }
    }

    /// Makes all data that was written so far survive later power cuts.
    pub(crate) fn flush(&self) -> Result<(), CrashError> {
        match self {
            Self::Volume(volume) => Ok(volume.flush()?),
            _ => Ok(()),
        }
    }

    /// Cuts the power, if the place is a volume. A disk may write blocks before a flush and in any order. Therefore,
    /// after every second cut, about half of the unflushed blocks are on the disk, and chance selects these blocks.
    pub(crate) fn cut(&self, number: u32, random: &mut SplitMix64) -> Result<Option<CutWrites>, CrashError> {
        let Self::Volume(volume) = self else { return Ok(None) };
        let some_survive = number.is_multiple_of(2);
        Ok(Some(volume.cut(&mut || some_survive && random.below(2) == 0)?))
    }

    /// Releases processes that wait for a disk without power.
    pub(crate) fn release(&self) {
        if let Self::Volume(volume) = self {
            volume.release();
        }
    }

    /// Switches the power on again.
    pub(crate) fn power_on(&self) -> Result<(), CrashError> {
        match self {
            Self::Volume(volume) => Ok(volume.power_on()?),
            _ => Ok(()),
        }
    }
}

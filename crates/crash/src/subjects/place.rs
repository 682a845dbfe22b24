//! Where the data is, and what takes its power.

use std::path::Path;

use dyno_engine::Scratch;
use dyno_host::{CutWrites, VolatileVolume};
use dyno_settings::CrashKind;
use dyno_stats::SplitMix64;

use crate::error::CrashError;
use crate::options::{CrashOptions, CrashedSystem};

/// Where the data is.
#[derive(Debug)]
pub(crate) enum Place {
    /// A server has a folder of its own.
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

    /// The folder for the data; none if that is for the server to choose.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            Self::OfServer => None,
            Self::Folder(folder) => Some(folder.path()),
            Self::Volume(volume) => Some(volume.folder()),
        }
    }

    /// Makes all that was written so far survive.
    pub(crate) fn flush(&self) -> Result<(), CrashError> {
        match self {
            Self::Volume(volume) => Ok(volume.flush()?),
            _ => Ok(()),
        }
    }

    /// Cuts the power, if that is what is done here. Every other time some of what was not flushed has reached the disk, each
    /// block or not by chance, as a disk writes in an order of its own.
    pub(crate) fn cut(&self, number: u32, random: &mut SplitMix64) -> Result<Option<CutWrites>, CrashError> {
        let Self::Volume(volume) = self else { return Ok(None) };
        let some_survive = number.is_multiple_of(2);
        Ok(Some(volume.cut(&mut || some_survive && random.below(2) == 0)?))
    }

    /// Lets go those who wait for a disk without power.
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

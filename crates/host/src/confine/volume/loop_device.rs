//! Loop devices: block devices that store their blocks in a file (loop(4), the kernel's include/uapi/linux/loop.h).

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::confine::error::{At as _, ConfineError};
use crate::confine::missing::LOOP_CONTROL;

const LOOP_CONFIGURE: libc::Ioctl = 0x4C0A;
const LOOP_CTL_GET_FREE: libc::Ioctl = 0x4C82;
/// Detaches the device from its file when the last user of the device closes or unmounts the device.
const LO_FLAGS_AUTOCLEAR: u32 = 4;
/// Accesses the file without the page cache. Otherwise the page cache would contain data twice: as data of the
/// volume and as data of the file.
const LO_FLAGS_DIRECT_IO: u32 = 16;

/// Number of attempts to get a device. Another process may take a free loop device first.
const TRIES: u32 = 32;

/// `struct loop_config`.
#[repr(C)]
struct LoopConfig {
    fd: u32,
    block_size: u32,
    info: LoopInfo,
    reserved: [u64; 8],
}

/// `struct loop_info64`.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// A loop device that is attached to a file. Dropping it detaches the device, unless the device is mounted.
#[derive(Debug)]
pub(super) struct LoopDevice {
    pub(super) path: PathBuf,
    /// The device as `MAJOR:MINOR`.
    pub(super) number: String,
    _open: File,
}

impl LoopDevice {
    /// Attaches a file to a free loop device. Needs Linux 5.8, and root.
    pub(super) fn attach(image: &Path) -> Result<Self, ConfineError> {
        let control = File::options().read(true).write(true).open(LOOP_CONTROL);
        let control = control.at("open", Path::new(LOOP_CONTROL))?;
        let file = File::options().read(true).write(true).open(image).at("open", image)?;
        let mut tries = 0;
        loop {
            let index = free_index(&control).at("ask for a free loop device", Path::new(LOOP_CONTROL))?;
            let path = PathBuf::from(format!("/dev/loop{index}"));
            let device = File::options().read(true).write(true).open(&path).at("open", &path)?;
            tries += 1;
            match configure(&device, file.as_raw_fd()) {
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) && tries < TRIES => {}
                outcome => {
                    outcome.at("put a file behind", &path)?;
                    let number = fs::metadata(&path).at("look at", &path)?.rdev();
                    let number = format!("{}:{}", libc::major(number), libc::minor(number));
                    return Ok(Self { path, number, _open: device });
                }
            }
        }
    }
}

/// Path of the file to which a device (`MAJOR:MINOR`) is attached; `None` if it has no file.
pub(super) fn backing_file(number: &str) -> Option<PathBuf> {
    let path = format!("/sys/dev/block/{number}/loop/backing_file");
    Some(PathBuf::from(fs::read_to_string(path).ok()?.trim_end_matches('\n')))
}

/// Whether a device (`MAJOR:MINOR`) accesses its file without the page cache; `None` if it is not a loop
/// device.
pub(crate) fn is_direct_io(number: &str) -> Option<bool> {
    let text = fs::read_to_string(format!("/sys/dev/block/{number}/loop/dio")).ok()?;
    Some(text.trim() == "1")
}

/// The size of a device (`MAJOR:MINOR`).
pub(crate) fn device_bytes(number: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/sys/dev/block/{number}/size")).ok()?;
    // The file counts sectors of 512 bytes, regardless of the size of the device's own sectors.
    Some(text.trim().parse::<u64>().ok()? * 512)
}

fn free_index(control: &File) -> io::Result<i32> {
    // SAFETY: the call takes no argument beyond the command.
    let index = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE) };
    if index < 0 { Err(io::Error::last_os_error()) } else { Ok(index) }
}

fn configure(device: &File, image: RawFd) -> io::Result<()> {
    let config = LoopConfig {
        fd: image.cast_unsigned(),
        // 0 lets the kernel choose the size.
        block_size: 0,
        info: LoopInfo {
            device: 0,
            inode: 0,
            rdevice: 0,
            offset: 0,
            size_limit: 0,
            number: 0,
            encrypt_type: 0,
            encrypt_key_size: 0,
            flags: LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO,
            file_name: [0; 64],
            crypt_name: [0; 64],
            encrypt_key: [0; 32],
            init: [0; 2],
        },
        reserved: [0; 8],
    };
    // SAFETY: the pointer is to a `loop_config` that lives through the call.
    let outcome = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE, &raw const config) };
    if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_have_the_sizes_that_the_kernel_checks() {
        assert_eq!(size_of::<LoopInfo>(), 232);
        assert_eq!(size_of::<LoopConfig>(), 304);
    }

    #[test]
    fn what_is_no_loop_device_has_no_file_behind_it() {
        assert_eq!((backing_file("1:3"), is_direct_io("1:3")), (None, None));
    }
}

//! Serves a disk to the kernel, as a file.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};

use super::disk::{CutWrites, Disk};
use super::protocol::{self, Request, TRANSFER_BYTES};
use crate::confine::ConfineError;
use crate::confine::error::At as _;

pub(super) const FUSE: &str = "/dev/fuse";
/// Duration of a flush, about as long as on a solid-state disk without a protected cache. Only in this time can a cut
/// show that a server answers before its flush is done.
const FLUSH: Duration = Duration::from_millis(1);
/// The calling thread writes data that others wait for (`prctl(2)`).
const PR_SET_IO_FLUSHER: libc::c_int = 57;

/// A disk that is served.
#[derive(Debug)]
pub(super) struct ServedDisk {
    state: Mutex<State>,
    released: Condvar,
}

#[derive(Debug)]
struct State {
    disk: Disk,
    /// Whether requests wait, as they would for ever without power.
    is_held: bool,
    /// Number of times that power was switched on. Handles that were opened before are no longer valid.
    generation: u64,
}

impl ServedDisk {
    /// Serves a disk as a file, which must exist, until it is unmounted.
    pub(super) fn serve(disk: Disk, file: &Path) -> Result<Arc<Self>, ConfineError> {
        let device = Path::new(FUSE);
        let fuse = File::options().read(true).write(true).open(device).at("open", device)?;
        let options = format!("fd={},rootmode=100600,user_id=0,group_id=0", fuse.as_raw_fd());
        let options = CString::new(options).map_err(io::Error::from).at("serve", file)?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("dyno", file, "fuse", flags, options.as_c_str()).at("serve", file)?;
        let state = Mutex::new(State { disk, is_held: false, generation: 0 });
        let served = Arc::new(Self { state, released: Condvar::new() });
        let answering = Arc::clone(&served);
        thread::Builder::new()
            .name("disk".to_owned())
            .spawn(move || answering.run(fuse))
            .at("serve", file)?;
        Ok(served)
    }

    /// Cuts the power. From now on no request is answered, until [`release`](Self::release).
    pub(super) fn cut(&self, survives: &mut dyn FnMut() -> bool) -> io::Result<CutWrites> {
        let mut state = self.state();
        state.is_held = true;
        state.disk.cut(survives)
    }

    /// Answers requests again, without keeping anything, so that users of the disk can end.
    pub(super) fn release(&self) {
        self.state().is_held = false;
        self.released.notify_all();
    }

    /// Switches the power on. Processes that opened the disk before get errors.
    pub(super) fn power_on(&self) {
        let mut state = self.state();
        state.generation += 1;
        state.disk.power_on();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers requests until the file is unmounted.
    fn run(&self, mut fuse: File) {
        // SAFETY: sets a flag of this thread. If the kernel refuses, lack of memory may slow the disk down.
        unsafe { libc::prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0) };
        let mut request = vec![0; protocol::REQUEST_BYTES];
        loop {
            match fuse.read(&mut request) {
                Ok(bytes) => {
                    if let Some(answer) = self.answer(&request[..bytes]) {
                        // The process that sent the request may have been killed meanwhile.
                        let _ = fuse.write(&answer);
                    }
                }
                Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::INTR | Errno::NOENT)) => {}
                // ENODEV: it is unmounted.
                Err(_) => return,
            }
        }
    }

    fn answer(&self, request: &[u8]) -> Option<Vec<u8>> {
        let (unique, request) = protocol::parse(request)?;
        if request == Request::Silent {
            return None;
        }
        if matches!(request, Request::Flush { .. }) {
            thread::sleep(FLUSH);
        }
        let state = self.state();
        let mut state =
            self.released.wait_while(state, |state| state.is_held).unwrap_or_else(PoisonError::into_inner);
        Some(match state.execute(&request) {
            Ok(body) => protocol::answer(unique, &body),
            Err(error) => protocol::refusal(unique, Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        })
    }
}

impl State {
    fn execute(&mut self, request: &Request<'_>) -> io::Result<Vec<u8>> {
        match *request {
            Request::Init => Ok(protocol::init()),
            Request::Attributes => Ok(protocol::attributes(self.disk.bytes())),
            Request::Open => Ok(protocol::open(self.generation)),
            Request::Read { file, offset, bytes } => {
                self.check(file)?;
                let mut into = vec![0; bytes.min(TRANSFER_BYTES)];
                let read = self.disk.read(offset, &mut into)?;
                into.truncate(read);
                Ok(into)
            }
            Request::Write { file, offset, bytes } => {
                self.check(file)?;
                self.disk.write(offset, bytes)?;
                Ok(protocol::written(bytes.len()))
            }
            Request::Flush { file } => {
                self.check(file)?;
                self.disk.flush()?;
                Ok(Vec::new())
            }
            Request::Close | Request::Silent => Ok(Vec::new()),
            Request::Other => Err(Errno::NOSYS.into()),
        }
    }

    /// An error for a handle from before a cut, because a file system that was mounted then must not write to the disk.
    fn check(&self, file: u64) -> io::Result<()> {
        if file == self.generation { Ok(()) } else { Err(Errno::IO.into()) }
    }
}

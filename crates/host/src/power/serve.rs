//! Provides a disk as a file, by answering the kernel's FUSE requests for this file.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};

use super::disk::{CutWrites, Disk};
use super::medium::Medium;
use super::protocol::{self, Request, TRANSFER_BYTES};
use crate::confine::ConfineError;
use crate::confine::error::At as _;

pub(crate) const FUSE: &str = "/dev/fuse";
/// Tells the kernel that the calling thread writes data for which other threads wait (`prctl(2)`).
const PR_SET_IO_FLUSHER: libc::c_int = 57;
/// Longest time that a waiting request sleeps before it checks whether the latency has changed.
const GLANCE: Duration = Duration::from_millis(20);

/// A disk that this process provides to the kernel as a file.
#[derive(Debug)]
pub(super) struct ServedDisk<M> {
    state: Mutex<State<M>>,
    released: Condvar,
    /// The least duration of every read, write and flush, in microseconds.
    latency_us: AtomicU64,
    /// The least duration of a flush.
    flush: Duration,
}

#[derive(Debug)]
struct State<M> {
    disk: M,
    /// Whether requests wait for ever, as they do without power.
    is_held: bool,
    /// Number of times that power was switched on again. A file handle that was opened before the latest of these
    /// times is no longer valid.
    generation: u64,
}

/// A request, and the time at which it arrived.
type Arrived = (Instant, Vec<u8>);

impl<M: Medium + Send + 'static> ServedDisk<M> {
    /// Provides a disk as a file until the file is unmounted. The file must exist. A flush takes at least the time
    /// `flush`.
    pub(super) fn serve(disk: M, flush: Duration, file: &Path) -> Result<Arc<Self>, ConfineError> {
        let device = Path::new(FUSE);
        let fuse = File::options().read(true).write(true).open(device).at("open", device)?;
        let answers = fuse.try_clone().at("open", device)?;
        let options = format!("fd={},rootmode=100600,user_id=0,group_id=0", fuse.as_raw_fd());
        let options = CString::new(options).map_err(io::Error::from).at("serve", file)?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("dyno", file, "fuse", flags, options.as_c_str()).at("serve", file)?;
        let state = Mutex::new(State { disk, is_held: false, generation: 0 });
        let latency_us = AtomicU64::new(0);
        let served = Arc::new(Self { state, released: Condvar::new(), latency_us, flush });
        let answering = Arc::clone(&served);
        let (arrive, arrived) = mpsc::channel();
        let named = || thread::Builder::new().name("disk".to_owned());
        named().spawn(move || receive(fuse, &arrive)).at("serve", file)?;
        named().spawn(move || answering.run(answers, &arrived)).at("serve", file)?;
        Ok(served)
    }

    /// Sets the least duration of every read, write and flush, in whole microseconds.
    pub(super) fn set_latency(&self, latency: Duration) {
        self.latency_us.store(u64::try_from(latency.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(super) fn latency(&self) -> Duration {
        Duration::from_micros(self.latency_us.load(Ordering::Relaxed))
    }

    /// Answers requests again, so that users of the disk can end. After a cut, nothing that they write is kept.
    pub(super) fn release(&self) {
        self.state().is_held = false;
        self.released.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State<M>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers requests in the order of their arrival until the file is unmounted. Each request is answered when the
    /// least duration of its kind has passed.
    fn run(&self, mut fuse: File, arrived: &Receiver<Arrived>) {
        flush_for_others();
        while let Ok((arrival, request)) = arrived.recv() {
            if let Some(answer) = self.answer(arrival, &request) {
                // An error is ignored: it means that the process that sent the request was killed.
                let _ = fuse.write(&answer);
            }
        }
    }

    fn answer(&self, arrival: Instant, request: &[u8]) -> Option<Vec<u8>> {
        let (unique, request) = protocol::parse(request)?;
        if request == Request::Silent {
            return None;
        }
        self.wait(arrival, &request);
        let state = self.state();
        let mut state =
            self.released.wait_while(state, |state| state.is_held).unwrap_or_else(PoisonError::into_inner);
        Some(match state.execute(&request) {
            Ok(body) => protocol::answer(unique, &body),
            Err(error) => protocol::refusal(unique, Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        })
    }

    /// Waits until the least duration of the request has passed since its arrival.
    fn wait(&self, arrival: Instant, request: &Request<'_>) {
        let is_flush = matches!(request, Request::Flush { .. });
        if !is_flush && !matches!(request, Request::Read { .. } | Request::Write { .. }) {
            return;
        }
        loop {
            let takes = self.latency().max(if is_flush { self.flush } else { Duration::ZERO });
            match takes.checked_sub(arrival.elapsed()) {
                Some(left) if !left.is_zero() => thread::sleep(left.min(GLANCE)),
                _ => return,
            }
        }
    }
}

impl ServedDisk<Disk> {
    /// Cuts the power. From now on no request is answered until [`release`](Self::release).
    pub(super) fn cut(&self, survives: &mut dyn FnMut() -> bool) -> io::Result<CutWrites> {
        let mut state = self.state();
        state.is_held = true;
        state.disk.cut(survives)
    }

    /// Switches the power on. Processes that opened the disk before this call get errors from now on.
    pub(super) fn power_on(&self) {
        let mut state = self.state();
        state.generation += 1;
        state.disk.power_on();
    }
}

/// Takes requests from the kernel until the file is unmounted, and records when they arrive.
fn receive(mut fuse: File, arrive: &Sender<Arrived>) {
    flush_for_others();
    let mut request = vec![0; protocol::REQUEST_BYTES];
    loop {
        match fuse.read(&mut request) {
            Ok(bytes) => {
                if arrive.send((Instant::now(), request[..bytes].to_vec())).is_err() {
                    return;
                }
            }
            Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::INTR | Errno::NOENT)) => {}
            // ENODEV means that the file is unmounted.
            Err(_) => return,
        }
    }
}

/// Marks this thread as a writer for which other threads wait.
fn flush_for_others() {
    // SAFETY: sets a flag of this thread. If the kernel refuses, lack of memory may slow the disk down.
    unsafe { libc::prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0) };
}

impl<M: Medium> State<M> {
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

    /// Refuses a file handle that was opened before the power was last switched on. A file system that was mounted
    /// before the cut may still have such a handle, but must not write to the disk.
    fn check(&self, file: u64) -> io::Result<()> {
        if file == self.generation { Ok(()) } else { Err(Errno::IO.into()) }
    }
}

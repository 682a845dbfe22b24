//! Checks that event loops do not write to their shared memory while events run. `bench/results.md` names the
//! exceptions.

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use dyno_script::Silent;

use super::server;
use crate::io::Loopback;
use crate::measure::recorder::Recorder;
use crate::protocol::job::{Address, Job, Protocol, Script, Target};
use crate::schedule::control::Phase;
use crate::worker::{Assignment, EventLoop, Message, Shared};

const SCRIPT: &str = r#"
function thread_init()
    con = sysbench.sql.driver():connect()
    stmt = con:prepare("SELECT c FROM sbtest1 WHERE id = ?")
    id = stmt:bind_create(sysbench.sql.type.INT)
    stmt:bind_param(id)
end
function event()
    id:set(sysbench.rand.default(1, 1000))
    stmt:execute()
    con:query(string.format("UPDATE sbtest1 SET k = k + 1 WHERE id = %d", sysbench.rand.uniform(1, 1000)))
end
"#;

/// Memory pages that contain the state that event loops share. The pages can be made read-only. If a loop then writes
/// to them, SIGSEGV ends the process.
struct Pages {
    shared: NonNull<Shared>,
}

impl Pages {
    const BYTES: usize = size_of::<Shared>();

    fn of(shared: Shared) -> Self {
        // SAFETY: new pages at an address of the kernel's choice, which are aligned for any type.
        let pages = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(
                std::ptr::null_mut(),
                Self::BYTES,
                access,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(pages, libc::MAP_FAILED);
        let place = NonNull::new(pages.cast::<Shared>()).expect("pages have an address");
        // SAFETY: the pages are large enough and writable, and no other code uses them.
        unsafe { place.write(shared) };
        Self { shared: place }
    }

    fn get(&self) -> &Shared {
        // SAFETY: written by `of`, dropped with `self`.
        unsafe { self.shared.as_ref() }
    }

    fn allow(&self, access: i32) {
        // SAFETY: these are whole pages of this object.
        assert_eq!(unsafe { libc::mprotect(self.shared.as_ptr().cast(), Self::BYTES, access) }, 0);
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.allow(libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: `of` has written the value, and no other code uses it any more.
        unsafe {
            self.shared.drop_in_place();
            libc::munmap(self.shared.as_ptr().cast(), Self::BYTES);
        }
    }
}

/// Waits until a condition is true, for at most a minute. Returns whether it became true.
fn wait_for(condition: impl Fn() -> bool) -> bool {
    let limit = Instant::now() + Duration::from_secs(60);
    while !condition() {
        if Instant::now() > limit {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
    true
}

fn job(driver: Protocol, socket: std::path::PathBuf) -> Job {
    let script = Script { name: "apart".into(), source: SCRIPT.into(), search_path: Vec::new() };
    let target = Target::new(driver, vec![Address::Unix(socket)]);
    Job { connections: 4, ..Job::new(target, script, "run") }
}

fn run_loop(shared: &Shared, tids: Range<u32>, recorder: Arc<Recorder>) {
    let io = Box::new(Loopback::<Silent>::new(shared.job.target.driver).expect("an eventfd"));
    let assignment = Assignment { tids, recorder, busy_since_ns: Arc::default() };
    let ended = EventLoop::<Silent>::with_io(shared, assignment, io).and_then(EventLoop::run);
    if let Err(error) = ended {
        shared.say(Message::Failed(error.to_string()));
    }
}

#[test]
fn loops_write_nothing_that_they_share() {
    for driver in [Protocol::Mysql, Protocol::Pgsql] {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("apart.sock");
        let _listener = server::listen(&socket).unwrap();
        let (shared, messages, _) = crate::run::prepare(job(driver, socket), &mut |_| {}).unwrap();
        let pages = Pages::of(shared);
        let shared = pages.get();
        let recorders: [Arc<Recorder>; 2] = Default::default();
        let have_done = |events: u64| recorders.iter().all(|recorder| recorder.finished() >= events);
        let went_on = thread::scope(|scope| {
            for (tids, recorder) in [0..2, 2..4].into_iter().zip(&recorders) {
                scope.spawn(move || run_loop(shared, tids, Arc::clone(recorder)));
            }
            let mut ready = 0;
            while ready < recorders.len() {
                match messages.recv().unwrap() {
                    Message::Ready(_) => ready += 1,
                    Message::Failed(message) => {
                        shared.control.advance(Phase::Aborting);
                        panic!("{message}");
                    }
                    _ => {}
                }
            }
            shared.control.advance(Phase::Running);
            let has_begun = wait_for(|| have_done(1));
            let events = 1000 + recorders.iter().map(|recorder| recorder.finished()).max().unwrap_or(0);
            pages.allow(libc::PROT_READ);
            let went_on = has_begun && wait_for(|| have_done(events));
            pages.allow(libc::PROT_READ | libc::PROT_WRITE);
            shared.control.advance(Phase::Stopping);
            went_on
        });
        assert!(went_on, "{driver:?}: the loops stood still");
    }
}

/// Each recorder must have cache lines of its own, because a loop writes to its recorder in each iteration.
#[test]
fn recorders_share_no_cache_line() {
    assert!(align_of::<Recorder>() >= 128);
}

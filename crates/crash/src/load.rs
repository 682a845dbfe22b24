//! The load between two crashes, and the crash that ends it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dyno_host::CutWrites;
use dyno_stats::SplitMix64;

use crate::clients::client::{Course, work};
use crate::clients::ledger::Ledger;
use crate::clients::session::Session;
use crate::error::CrashError;
use crate::options::CrashOptions;
use crate::subjects::place::Place;
use crate::subjects::subject::Subject;

const POLL: Duration = Duration::from_millis(1);
/// The crash comes after a random delay, which begins when enough commits are acknowledged. This is the longest
/// delay.
const LATER_MS_MAX: usize = 100;
/// The test fails if no commit is acknowledged for this time.
const STUCK: Duration = Duration::from_secs(60);

/// How a load ended.
#[derive(Debug)]
pub(crate) enum LoadEnd {
    Crashed {
        /// Time since the beginning of the test.
        at: Duration,
        acknowledged: u64,
        cut: Option<CutWrites>,
    },
    /// The user stopped the test. The system is running.
    Stopped,
    /// The system ended by itself.
    Died,
}

/// Applies load to a system until enough commits are acknowledged, then crashes it.
pub(crate) fn load_and_crash(
    subject: &dyn Subject,
    place: &Place,
    ledgers: &mut [Ledger],
    options: &CrashOptions,
    (number, epoch): (u32, Instant),
    stop: &AtomicBool,
) -> Result<LoadEnd, CrashError> {
    let sessions: Vec<Box<dyn Session>> =
        ledgers.iter().map(|_| subject.client()).collect::<Result<_, _>>().map_err(CrashError::Login)?;
    let course = Course::new(epoch, options.clients);
    let mut random = SplitMix64::new(options.seed.wrapping_add(u64::from(number) << 32));
    let later = Duration::from_millis(random.below(LATER_MS_MAX + 1) as u64);
    thread::scope(|scope| {
        let clients: Vec<_> = ledgers
            .iter_mut()
            .zip(sessions)
            .map(|(ledger, mut session)| {
                let (course, seed) = (&course, random.draw());
                scope.spawn(move || work(ledger, &mut *session, course, seed))
            })
            .collect();
        let end = wait(&course, options.commits, later, stop).and_then(|end| match end {
            Waited::Enough => crash(subject, place, &course, (number, &mut random)),
            Waited::Stopped => Ok(LoadEnd::Stopped),
            Waited::Died => Ok(LoadEnd::Died),
        });
        course.stop.store(true, Ordering::Relaxed);
        let joined =
            clients.into_iter().try_for_each(|client| client.join().map_err(|_| CrashError::ClientLost));
        let end = joined.and(end)?;
        Ok(match end {
            // The acknowledged commits are counted only now, when all clients have ended, because some answers arrive
            // after the crash.
            LoadEnd::Crashed { at, cut, .. } => {
                LoadEnd::Crashed { at, cut, acknowledged: course.acknowledged.load(Ordering::Relaxed) }
            }
            end => end,
        })
    })
}

enum Waited {
    Enough,
    Stopped,
    Died,
}

fn wait(course: &Course, commits: u64, later: Duration, stop: &AtomicBool) -> Result<Waited, CrashError> {
    let mut last = (0, Instant::now());
    let mut enough_since: Option<Instant> = None;
    loop {
        if stop.load(Ordering::Relaxed) {
            return Ok(Waited::Stopped);
        }
        if course.alive.load(Ordering::Relaxed) == 0 {
            return Ok(Waited::Died);
        }
        let acknowledged = course.acknowledged.load(Ordering::Relaxed);
        if acknowledged >= commits && enough_since.get_or_insert_with(Instant::now).elapsed() >= later {
            return Ok(Waited::Enough);
        }
        if acknowledged != last.0 {
            last = (acknowledged, Instant::now());
        } else if last.1.elapsed() >= STUCK {
            let last_refusal = course.last_refusal();
            return Err(CrashError::Stuck { seconds: STUCK.as_secs(), last_refusal });
        }
        thread::sleep(POLL);
    }
}

/// Crashes the system. If its disk loses power, the order of the steps matters:
///
/// - First the disk stops answering, so no commit that waits for the disk is acknowledged any more.
/// - Then the clients stop counting acknowledgements, because commits that do not wait for the disk are still
///   answered.
/// - Processes that wait for the disk are released only after they are killed, so that they execute nothing more.
fn crash(
    subject: &dyn Subject,
    place: &Place,
    course: &Course,
    (number, random): (u32, &mut SplitMix64),
) -> Result<LoadEnd, CrashError> {
    subject.before_crash()?;
    let at = course.epoch.elapsed();
    let cut = place.cut(number, random)?;
    course.is_cut.store(cut.is_some(), Ordering::SeqCst);
    subject.crash(&mut || place.release());
    Ok(LoadEnd::Crashed { at, cut, acknowledged: 0 })
}

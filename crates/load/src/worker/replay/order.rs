//! The order of commits in a replay. A statement waits for the commits that had ended in the log before the statement
//! began.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dyno_traffic::{Commits, ReplayStatement, TrafficError, TrafficFile};

use crate::io::Waker;
use crate::protocol::replay::Replay;

/// If no commit ends and the server works on no statement for this time, the next waiting statement is sent although
/// the commits for which it waits have not ended. In this case, sessions wait for each other, because the log's clock
/// stepped back or its times are coarse.
const PATIENCE: Duration = Duration::from_secs(1);

/// The commits of a replay, which all its loops share.
pub(crate) struct CommitOrder {
    commits: Commits,
    /// One bit for each commit, which says whether the commit has ended.
    ended: Vec<AtomicU64>,
    /// All commits before this position in the log's order have ended.
    first: AtomicU32,
    loops: Mutex<Vec<Arc<OrderedLoop>>>,
}

/// The part of a loop's state that the other loops of the replay read.
struct OrderedLoop {
    waker: Waker,
    /// Number of the loop's sessions that wait for the server.
    busy: AtomicU32,
    /// Number of the loop's statements that wait for commits.
    waiting: AtomicU32,
}

impl CommitOrder {
    /// Creates the order of a replay's commits; `None` if the replay does not keep the order.
    ///
    /// # Errors
    /// The traffic file is damaged, or has too many commits.
    pub(crate) fn of(replay: &Replay) -> Result<Option<Self>, TrafficError> {
        if !replay.keeps_order {
            return Ok(None);
        }
        let commits = Commits::read(&TrafficFile::open(&replay.file)?)?;
        Ok(Some(Self::new(commits)))
    }

    fn new(commits: Commits) -> Self {
        let words = (commits.len() as usize).div_ceil(64);
        let ended = (0..words).map(|_| AtomicU64::new(0)).collect();
        Self { commits, ended, first: AtomicU32::new(0), loops: Mutex::default() }
    }

    fn first(&self) -> u32 {
        self.first.load(Ordering::Acquire)
    }

    fn has_ended(&self, place: u32) -> bool {
        let word = self.ended.get(place as usize / 64);
        word.is_some_and(|word| word.load(Ordering::Acquire) & (1 << (place % 64)) != 0)
    }

    /// Records that a commit has ended or will never be sent. If statements of other loops may continue, wakes these
    /// loops.
    fn end(&self, place: u32, own: &Arc<OrderedLoop>) {
        if let Some(word) = self.ended.get(place as usize / 64) {
            word.fetch_or(1 << (place % 64), Ordering::AcqRel);
        }
        let mut first = self.first();
        let before = first;
        while self.has_ended(first) {
            // Another loop may have advanced `first` meanwhile.
            first = match self.first.compare_exchange(first, first + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => first + 1,
                Err(newer) => newer,
            };
        }
        if first == before {
            return;
        }
        for other in self.loops.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            if !Arc::ptr_eq(other, own) && other.waiting.load(Ordering::Acquire) > 0 {
                other.waker.wake();
            }
        }
    }

    /// Whether no loop has a session that waits for the server.
    fn is_at_rest(&self) -> bool {
        let loops = self.loops.lock().unwrap_or_else(PoisonError::into_inner);
        loops.iter().all(|it| it.busy.load(Ordering::Acquire) == 0)
    }
}

/// The order of commits, as one loop of the replay uses it.
pub(super) struct Following<'a> {
    order: &'a CommitOrder,
    own: Arc<OrderedLoop>,
    /// Slots of sessions whose statement waits. The first number is how many commits must have ended before the
    /// statement is sent.
    waiting: BinaryHeap<Reverse<(u32, usize)>>,
    /// The number of commits that had ended when [`Self::next`] was last called, and the time at which this number last
    /// changed or a statement was last released.
    seen: (u32, Instant),
}

impl<'a> Following<'a> {
    pub(super) fn new(order: &'a CommitOrder, waker: Waker) -> Self {
        let own = Arc::new(OrderedLoop { waker, busy: AtomicU32::new(0), waiting: AtomicU32::new(0) });
        order.loops.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&own));
        Self { order, own, waiting: BinaryHeap::new(), seen: (0, Instant::now()) }
    }

    /// Whether a statement must wait. If it must, [`Self::next`] returns the slot of its session later.
    pub(super) fn waits(&mut self, slot: usize, statement: &ReplayStatement) -> bool {
        let needed = self.order.commits.before(statement.offset_us);
        if needed <= self.order.first() {
            return false;
        }
        self.waiting.push(Reverse((needed, slot)));
        self.own.waiting.store(self.waiting.len() as u32, Ordering::Release);
        // A commit may have ended between the check above and the registration. In that case, no loop wakes this one,
        // so the condition is checked again.
        if needed > self.order.first() {
            return true;
        }
        self.waiting.retain(|Reverse((_, waiting))| *waiting != slot);
        self.own.waiting.store(self.waiting.len() as u32, Ordering::Release);
        false
    }

    /// Records that a statement has ended, or will never be sent.
    pub(super) fn ended(&self, statement_id: i64) {
        if let Some(place) = self.order.commits.place(statement_id) {
            self.order.end(place, &self.own);
        }
    }

    /// The slot of a session whose statement may be sent now, and whether the statement is sent although commits before
    /// it have not ended.
    pub(super) fn next(&mut self, now: Instant) -> Option<(usize, bool)> {
        let first = self.order.first();
        if first != self.seen.0 {
            self.seen = (first, now);
        }
        let &Reverse((needed, slot)) = self.waiting.peek()?;
        let breaks = needed > first;
        if breaks && (now.duration_since(self.seen.1) < PATIENCE || !self.order.is_at_rest()) {
            return None;
        }
        self.waiting.pop();
        self.own.waiting.store(self.waiting.len() as u32, Ordering::Release);
        self.seen.1 = now;
        Some((slot, breaks))
    }

    /// Publishes how many sessions of this loop wait for the server.
    pub(super) fn set_busy(&self, busy: u32) {
        self.own.busy.store(busy, Ordering::Release);
    }

    /// The latest time at which [`Self::next`] must be called again; `None` if no statement waits.
    pub(super) fn looks_again_at(&self) -> Option<Instant> {
        (!self.waiting.is_empty()).then(|| self.seen.1 + PATIENCE)
    }

    /// Number of statements that wait for commits.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use dyno_traffic::Form;

    use super::*;

    fn statement(id: i64, offset_us: i64) -> ReplayStatement {
        ReplayStatement { id, digest_id: 1, offset_us, database_id: None, form: Form::Text(Vec::new()) }
    }

    fn following(order: &CommitOrder) -> Following<'_> {
        Following::new(order, Waker::new().unwrap())
    }

    #[test]
    fn a_statement_waits_for_all_commits_before_it() {
        let order =
            CommitOrder::new(Commits::of((0..100).map(|number| (number * 10, 1000 + number)).collect()));
        let (mut one, other) = (following(&order), following(&order));
        let now = Instant::now();
        assert!(!one.waits(0, &statement(1, 0)), "nothing is before the first");
        assert!(one.waits(0, &statement(2, 15)));
        assert!(one.waits(1, &statement(3, 995)));
        assert_eq!(one.len(), 2);
        other.ended(1001);
        assert_eq!(one.next(now), None, "the first commit has not ended");
        other.ended(1000);
        assert_eq!(one.next(now), Some((0, false)));
        (2..99).rev().for_each(|number| one.ended(1000 + number));
        assert_eq!(one.next(now), None);
        one.ended(7);
        one.ended(1099);
        assert_eq!((one.next(now), one.len()), (Some((1, false)), 0));
        assert!(!one.waits(0, &statement(4, i64::MAX)));
    }

    #[test]
    fn only_what_waits_for_ever_breaks_the_order() {
        let order = CommitOrder::new(Commits::of(vec![(10, 1)]));
        let (mut one, other) = (following(&order), following(&order));
        let now = Instant::now();
        assert!(one.waits(5, &statement(2, 20)));
        assert_eq!(one.next(now), None);
        other.set_busy(1);
        assert_eq!(one.next(now + 3 * PATIENCE), None, "another loop waits for the server");
        other.set_busy(0);
        assert!(one.looks_again_at().is_some_and(|at| at <= now + PATIENCE));
        assert_eq!(one.next(now + 3 * PATIENCE), Some((5, true)));
        assert_eq!(one.looks_again_at(), None);
    }
}

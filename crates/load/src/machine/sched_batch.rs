//! Leaves the processor to the server while the server has work.

/// Sets `SCHED_BATCH` (`sched(7)`): when this thread wakes, it waits for its turn instead of preempting another thread.
///
/// Without this policy, if the server keeps all cores busy, each answer that arrives would wake this thread and at once
/// take a core from the server. That costs two context switches for a single answer. With `SCHED_BATCH`, several
/// answers have arrived when the thread gets its turn. If a core is idle, nothing changes. The thread's share of the
/// processor stays the same. If the user has set another policy, it is kept.
pub(crate) fn wait_for_turns() {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: `parameters` lives through the call. If the policy cannot be set, the thread works
    // nevertheless.
    unsafe {
        if libc::sched_getscheduler(0) == libc::SCHED_OTHER {
            libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const parameters);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_waits_for_its_turn_unless_its_user_chose_another_policy() {
        // SAFETY: the call takes no pointers.
        let policy = || unsafe { libc::sched_getscheduler(0) };
        std::thread::spawn(move || {
            wait_for_turns();
            assert_eq!(policy(), libc::SCHED_BATCH);
            let parameters = libc::sched_param { sched_priority: 0 };
            // SAFETY: `parameters` lives through the call.
            assert_eq!(unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameters) }, 0);
            wait_for_turns();
            assert_eq!(policy(), libc::SCHED_IDLE);
        })
        .join()
        .expect("the policies are as expected");
    }
}

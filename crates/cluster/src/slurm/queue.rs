//! The output of `squeue`.

/// The output format that `squeue` is asked for: each line has the array job's number, the array task's index and the
/// state.
pub(super) const FORMAT: &str = "%F|%K|%T";

/// An array task that is in Slurm's queue, or that left the queue recently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) job: u64,
    /// The array task's index, which is the number of the round, from 0.
    pub(super) round: u32,
    pub(super) state: State,
    /// Slurm's own name of the state.
    pub(super) word: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The task is in the queue, perhaps again after it was requeued.
    Waiting,
    /// The task is on a node. It may be starting or ending there.
    Running,
    /// The task will not run again.
    Ended,
}

/// Reads the lines that `squeue` prints in [`FORMAT`]. Lines of other forms are left out.
pub(super) fn parse(told: &str) -> Vec<Line> {
    let line = |line: &str| {
        let mut words = line.trim().split('|');
        let job = words.next()?.parse().ok()?;
        let round = words.next()?.parse().ok()?;
        let word = words.next()?.to_owned();
        Some(Line { job, round, state: state(&word), word })
    };
    told.lines().filter_map(line).collect()
}

/// Maps the job states that squeue(1) lists under "JOB STATE CODES".
fn state(word: &str) -> State {
    match word {
        "PENDING" | "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD" | "RESV_DEL_HOLD" | "SPECIAL_EXIT" => {
            State::Waiting
        }
        "RUNNING" | "CONFIGURING" | "COMPLETING" | "RESIZING" | "SIGNALING" | "STAGE_OUT" | "STOPPED"
        | "SUSPENDED" => State::Running,
        _ => State::Ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_squeue_are_read_and_others_left_out() {
        let told = "  12|3|RUNNING\n12|4|PENDING\n12|0|NODE_FAIL\n13|N/A|PENDING\nslurm_load_jobs error\n";
        let found: Vec<_> = parse(told).iter().map(|line| (line.job, line.round, line.state)).collect();
        assert_eq!(found, [(12, 3, State::Running), (12, 4, State::Waiting), (12, 0, State::Ended)]);
    }
}

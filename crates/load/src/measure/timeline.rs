//! Number of events that ended in each hundredth of a second of the measured time.

use std::time::{Duration, Instant};

/// Length of a bin, [`TIMELINE_BIN_SECONDS`](crate::TIMELINE_BIN_SECONDS) in ns.
const BIN_NS: u64 = 10_000_000;

/// The bin of a time in ns since the load began.
pub(crate) fn bin(at_ns: u64) -> u32 {
    u32::try_from(at_ns / BIN_NS).unwrap_or(u32::MAX)
}

/// The timeline of the measured time. Bins are counted from the beginning of the load, so the first bin may begin
/// up to 10 ms before measuring begins.
#[derive(Debug)]
pub(crate) struct Timeline {
    /// The bin in which measuring began.
    first: u32,
    bins: Vec<u32>,
}

/// Largest number of bins, which cover a day. Later events are not on the timeline.
const BINS_MAX: usize = 8_640_000;

impl Timeline {
    /// Begins now. `epoch` is when the load began.
    pub(crate) fn begin(epoch: Instant) -> Self {
        Self::begin_after(epoch.elapsed())
    }

    fn begin_after(since_epoch: Duration) -> Self {
        let since_ns = u64::try_from(since_epoch.as_nanos()).unwrap_or(u64::MAX);
        Self { first: bin(since_ns), bins: Vec::new() }
    }

    /// Adds events. Each pair is a bin, counted since the load began, and the number of events that ended in the bin.
    pub(crate) fn add(&mut self, ended: &[(u32, u32)]) {
        for (bin, events) in ended {
            let Some(place) = bin.checked_sub(self.first).map(|place| place as usize) else { continue };
            if place >= BINS_MAX {
                continue;
            }
            if self.bins.len() <= place {
                self.bins.resize(place + 1, 0);
            }
            self.bins[place] += events;
        }
    }

    /// The number of events in each bin since measuring began.
    pub(crate) fn into_bins(self) -> Vec<u32> {
        self.bins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counted_from_the_bin_in_which_measuring_began() {
        assert_eq!([0, 9_999_999, 10_000_000, u64::MAX].map(bin), [0, 0, 1, u32::MAX]);
        let mut timeline = Timeline::begin_after(Duration::from_millis(105));
        timeline.add(&[(9, 7), (10, 1), (12, 2)]);
        timeline.add(&[(12, 3), (u32::MAX, 1)]);
        assert_eq!(timeline.into_bins(), [1, 0, 5]);
    }
}

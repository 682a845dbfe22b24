//! CPU time and memory of this process.

use crate::protocol::frame::Usage;

/// CPU time, context switches and memory of this process so far, by `getrusage(2)`.
pub(crate) fn now() -> Usage {
    // SAFETY: an all-zero rusage is a valid value of that plain C structure.
    let mut raw: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `raw` lives through the call, which only writes to it.
    if unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut raw) } != 0 {
        return Usage::default();
    }
    let us = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
    Usage {
        user_us: us(raw.ru_utime),
        system_us: us(raw.ru_stime),
        context_switches: (raw.ru_nvcsw + raw.ru_nivcsw) as u64,
        // Linux counts this field in KiB.
        memory_bytes_max: raw.ru_maxrss as u64 * 1024,
    }
}

impl Usage {
    /// Usage since `earlier`. Only the memory is not a difference: it is the largest size since the start of the
    /// process.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            user_us: self.user_us.saturating_sub(earlier.user_us),
            system_us: self.system_us.saturating_sub(earlier.system_us),
            context_switches: self.context_switches.saturating_sub(earlier.context_switches),
            memory_bytes_max: self.memory_bytes_max,
        }
    }
}

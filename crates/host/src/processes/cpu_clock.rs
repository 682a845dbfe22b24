//! The CPU clock of a process: CPU time of its threads, ended threads included, in nanoseconds.

use std::io;
use std::mem::MaybeUninit;

/// CPU time of a process in nanoseconds, user and system together, from the scheduler (`clock_getcpuclockid(3)`).
/// `/proc/pid/stat` has the same time in ticks, which are usually 10 ms.
pub(crate) fn cpu_ns(pid: u32) -> io::Result<u64> {
    let pid = libc::pid_t::try_from(pid).map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))?;
    let mut clock = MaybeUninit::<libc::clockid_t>::uninit();
    // SAFETY: the pointer is to a clockid_t that the call fills if it returns 0.
    let clock = match unsafe { libc::clock_getcpuclockid(pid, clock.as_mut_ptr()) } {
        // SAFETY: the call returned 0, so it has filled the clock.
        0 => unsafe { clock.assume_init() },
        errno => return Err(io::Error::from_raw_os_error(errno)),
    };
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the pointer is to a timespec that the call fills if it returns 0.
    if unsafe { libc::clock_gettime(clock, time.as_mut_ptr()) } != 0 {
        // The process ended between the two calls. The kernel then reports its clock as an invalid argument.
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    // SAFETY: the call returned 0, so it has filled the time.
    let time = unsafe { time.assume_init() };
    Ok(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_shows_in_the_clock_and_waiting_does_not() {
        let before = cpu_ns(std::process::id()).unwrap();
        let mut product = 1_u64;
        while cpu_ns(std::process::id()).unwrap() == before {
            product = std::hint::black_box(product.wrapping_mul(3));
        }
        let mut sleeper = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let asleep = cpu_ns(sleeper.id()).unwrap();
        assert!(asleep < 1_000_000_000, "a sleeping process used {asleep} ns");
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert_eq!(cpu_ns(sleeper.id()).unwrap_err().raw_os_error(), Some(libc::ESRCH));
    }
}

//! `cpu`: an event tests every number below a limit for primality, by trial division.

use std::hint::black_box;

use crate::Event;

/// Tests the numbers from 3 up to, but not including, `limit`.
pub fn cpu_event(limit: u64) -> Event {
    Box::new(move || {
        black_box(primes_below(black_box(limit)));
    })
}

/// Counts the numbers from 3 up to, but not including, `limit` that have no divisor from 2 to their square
/// root.
fn primes_below(limit: u64) -> u64 {
    (3..limit).filter(|&number| is_prime(number)).count() as u64
}

/// Tests a number by trial division. The divisor and the root are compared as floating-point numbers, as sysbench
/// does.
fn is_prime(number: u64) -> bool {
    let root = (number as f64).sqrt();
    let mut divisor = 2_u64;
    while divisor as f64 <= root {
        if remainder(number, divisor) == 0 {
            return false;
        }
        divisor += 1;
    }
    true
}

/// Returns the remainder, with a 64-bit division. For small numbers, LLVM would use a 32-bit division, which is faster
/// on many CPUs but is not what sysbench measures.
#[cfg(target_arch = "x86_64")]
#[inline]
fn remainder(dividend: u64, divisor: u64) -> u64 {
    let rest: u64;
    // SAFETY: the divisor is not 0, and the quotient is at most the dividend, so it fits in 64 bits.
    unsafe {
        std::arch::asm!(
            "div {divisor}",
            divisor = in(reg) divisor,
            inout("rax") dividend => _,
            inout("rdx") 0_u64 => rest,
            options(pure, nomem, nostack)
        );
    }
    rest
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn remainder(dividend: u64, divisor: u64) -> u64 {
    dividend % divisor
}

#[cfg(test)]
mod tests {
    use super::primes_below;

    #[test]
    fn primes_are_counted() {
        assert_eq!([0, 3, 4, 5, 6, 101, 10_000].map(primes_below), [0, 0, 1, 1, 2, 25 - 1, 1228]);
    }
}

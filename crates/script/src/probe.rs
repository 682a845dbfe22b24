//! Marks at the borders of a query's stages. From the marks, a profile computes where a thread's time goes.
//!
//! A load is compiled with [`Silent`], whose marks do nothing. A profile runs the same code with [`Stamps`], whose
//! marks read the processor's counter of cycles.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// A stage of a query, from the script to the bytes and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stage {
    /// The event loop itself, and the choice of the next step.
    Loop,
    /// [`Runtime`](crate::Runtime) around Lua: it starts an entry point, or passes a reply.
    Resume,
    /// Lua, with the switch to the coroutine and back.
    Lua,
    /// Rust functions that Lua calls.
    Native,
    /// A command's bytes are written.
    Encode,
    /// The bytes are handed to the I/O method.
    Submit,
    /// System calls that send, wait and receive.
    Wait,
    /// Events are taken from the I/O method.
    Reap,
    /// An answer is parsed.
    Decode,
    /// Latencies and counts are recorded.
    Record,
    /// The clock is read.
    Clock,
    /// The canned answers of a profile are chosen. In a load, the server does this work.
    Peer,
}

/// A stage that takes longer than this number of cycles does not count, because the kernel has run another process
/// meanwhile. This does not apply to [`Stage::Wait`]. Without such an interruption, the longest stages take a hundredth
/// of this number.
const INTERRUPTED_CYCLES: u64 = 100_000;

const STAGES: usize = Stage::ALL.len();

impl Stage {
    pub const ALL: [Self; 12] = [
        Self::Loop,
        Self::Resume,
        Self::Lua,
        Self::Native,
        Self::Encode,
        Self::Submit,
        Self::Wait,
        Self::Reap,
        Self::Decode,
        Self::Record,
        Self::Clock,
        Self::Peer,
    ];

    /// The stage's name in a table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Resume => "resume",
            Self::Lua => "Lua",
            Self::Native => "functions of Lua in Rust",
            Self::Encode => "encode",
            Self::Submit => "submit",
            Self::Wait => "system calls",
            Self::Reap => "reap",
            Self::Decode => "decode",
            Self::Record => "record",
            Self::Clock => "clock",
            Self::Peer => "canned answers",
        }
    }
}

/// Marks the stages of a thread's work.
pub trait Probe: 'static {
    /// Whether marks are recorded.
    const RECORDS: bool;
    /// Enters a stage. Returns the stage that was left, so that it can be entered again.
    fn enter(stage: Stage) -> Stage;
    /// Begins to record.
    fn begin();
    /// Ends recording.
    fn end();
}

/// Marks nothing, and costs nothing.
#[derive(Clone, Copy, Debug)]
pub enum Silent {}

impl Probe for Silent {
    const RECORDS: bool = false;

    #[inline]
    fn enter(_: Stage) -> Stage {
        Stage::Loop
    }

    #[inline]
    fn begin() {}

    #[inline]
    fn end() {}
}

/// Adds up the cycles of each stage, separately for each thread.
#[derive(Clone, Copy, Debug)]
pub enum Stamps {}

/// The cycles that a stage took, and how often it was entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub cycles: u64,
    pub entered: u64,
}

/// The running sums of a thread.
struct Ledger {
    stage: Cell<Stage>,
    since: Cell<u64>,
    tallies: [Cell<Tally>; STAGES],
    /// The sums when recording ended.
    recorded: Cell<[Tally; STAGES]>,
}

thread_local! {
    static LEDGER: Ledger = const {
        Ledger {
            stage: Cell::new(Stage::Loop),
            since: Cell::new(0),
            tallies: [const { Cell::new(Tally { cycles: 0, entered: 0 }) }; STAGES],
            recorded: Cell::new([Tally { cycles: 0, entered: 0 }; STAGES]),
        }
    };
}

impl Ledger {
    fn enter(&self, stage: Stage) -> Stage {
        let now = cycles();
        let left = self.stage.replace(stage);
        let tally = &self.tallies[left as usize];
        let Tally { cycles, entered } = tally.get();
        let passed = now.wrapping_sub(self.since.replace(now));
        if passed < INTERRUPTED_CYCLES || left == Stage::Wait {
            tally.set(Tally { cycles: cycles + passed, entered });
        }
        let tally = &self.tallies[stage as usize];
        tally.set(Tally { entered: tally.get().entered + 1, ..tally.get() });
        left
    }

    fn clear(&self) {
        self.tallies.iter().for_each(|tally| tally.set(Tally::default()));
        self.since.set(cycles());
    }
}

impl Probe for Stamps {
    const RECORDS: bool = true;

    fn enter(stage: Stage) -> Stage {
        LEDGER.with(|ledger| ledger.enter(stage))
    }

    fn begin() {
        LEDGER.with(Ledger::clear);
    }

    fn end() {
        LEDGER.with(|ledger| {
            ledger.enter(Stage::Loop);
            ledger.recorded.set(ledger.tallies.each_ref().map(Cell::get));
        });
    }
}

impl Stamps {
    /// The stages of this thread between [`begin`](Probe::begin) and [`end`](Probe::end), in the order of
    /// [`Stage::ALL`].
    pub fn recorded() -> Vec<(Stage, Tally)> {
        let tallies = LEDGER.with(|ledger| ledger.recorded.get());
        Stage::ALL.into_iter().zip(tallies).collect()
    }

    /// Cycles that one mark takes. Computes the mean over many marks several times, and returns the least mean.
    pub fn mark_cycles() -> f64 {
        const MARKS: u32 = 10_000;
        let mean = |_| {
            let began = cycles();
            for _ in 0..MARKS / 2 {
                Self::enter(Stage::Peer);
                Self::enter(Stage::Loop);
            }
            cycles().wrapping_sub(began) as f64 / f64::from(MARKS)
        };
        (0..20).map(mean).fold(f64::INFINITY, f64::min)
    }

    /// Cycles of the counter per second.
    pub fn cycles_a_second() -> f64 {
        let (began, from) = (Instant::now(), cycles());
        while began.elapsed() < Duration::from_millis(20) {}
        cycles().wrapping_sub(from) as f64 / began.elapsed().as_secs_f64()
    }
}

/// The processor's counter of cycles. It counts at a constant rate, whatever the core's clock frequency is.
#[cfg(target_arch = "x86_64")]
fn cycles() -> u64 {
    // SAFETY: every processor of this architecture has the instruction.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// On other architectures, ns since the first call.
#[cfg(not(target_arch = "x86_64"))]
fn cycles() -> u64 {
    static FIRST: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    FIRST.elapsed().as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stage_has_the_time_until_the_next_mark() {
        let of = |wanted| {
            let recorded = Stamps::recorded();
            recorded.into_iter().find(|(stage, _)| *stage == wanted).expect("every stage").1
        };
        // The stage has 0 cycles if the kernel ran another process meanwhile. Then the measurement is repeated.
        while of(Stage::Lua).cycles == 0 {
            Stamps::begin();
            let outer = Stamps::enter(Stage::Lua);
            let began = Instant::now();
            while began.elapsed() < Duration::from_micros(5) {}
            assert_eq!(Stamps::enter(Stage::Native), Stage::Lua);
            Stamps::enter(outer);
            Stamps::end();
            Stamps::enter(Stage::Wait);
        }
        // Every counter has a rate of at least 1 GHz.
        assert!(of(Stage::Lua).cycles >= 4_000);
        assert_eq!((of(Stage::Lua).entered, of(Stage::Native).entered), (1, 1));
        assert_eq!(of(Stage::Wait), Tally::default(), "it came after the end");
    }
}

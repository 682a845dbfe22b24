//! Folds stacks. A folded stack is a line of function names, with the kind of its thread and the function that the
//! thread works in.

use std::collections::{BTreeMap, HashMap};

use dyno_host::{Frame, ThreadStack, is_of_system};

use super::function_name::short_name;
use super::patterns::{OTHER, Patterns, fits};
use crate::catalogue::entry::Family;

/// Stacks as names of functions. Equal stacks are counted together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoldedStacks {
    /// The most frequent stack comes first.
    pub stacks: Vec<FoldedStack>,
    /// Share of the engine's frames that have no name, from 0 to 1.
    pub unnamed_share: f64,
}

/// A stack as names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedStack {
    /// The kind of the thread, such as `connection`.
    pub kind: String,
    /// Whether the thread waits for its client's next request.
    pub is_idle: bool,
    /// The innermost function of the engine that does more than wait or lock.
    pub function: String,
    /// Functions from the engine's outermost function to the innermost function of the stack, separated by `;`.
    pub frames: String,
    pub count: u32,
}

/// Folds the stacks of a server of a family. If the family has no server, all stacks have the same kind.
pub fn fold_stacks(family: Family, stacks: &[ThreadStack]) -> FoldedStacks {
    let patterns = Patterns::of(family);
    let mut counts: BTreeMap<(String, bool, String, String), u32> = BTreeMap::new();
    let mut names = Names::default();
    let (mut frames, mut unnamed) = (0_u64, 0_u64);
    for stack in stacks {
        let of_engine = || stack.frames.iter().filter(|frame| !is_of_system(&frame.module));
        frames += of_engine().count() as u64 * u64::from(stack.count);
        unnamed +=
            of_engine().filter(|frame| frame.function.is_none()).count() as u64 * u64::from(stack.count);
        let shown = names.of(stack);
        let key = (
            kind(patterns, &stack.thread, &shown).to_owned(),
            is_idle(patterns, &shown),
            function(patterns, &shown),
            joined(&shown),
        );
        *counts.entry(key).or_default() += stack.count;
    }
    let folded = counts.into_iter().map(|((kind, is_idle, function, frames), count)| FoldedStack {
        kind,
        is_idle,
        function,
        frames,
        count,
    });
    let mut stacks: Vec<FoldedStack> = folded.collect();
    stacks.sort_by_key(|stack| std::cmp::Reverse(stack.count));
    FoldedStacks { stacks, unnamed_share: if frames > 0 { unnamed as f64 / frames as f64 } else { 0.0 } }
}

/// A frame in the form in which a folded stack shows it.
#[derive(Clone)]
struct Shown {
    name: String,
    is_named: bool,
    is_of_system: bool,
}

/// The short names of functions. They are kept, so that each name is shortened once.
#[derive(Default)]
struct Names(HashMap<String, String>);

impl Names {
    /// The frames of a stack. The system's frames at the root are left out, because they differ between C
    /// libraries.
    fn of(&mut self, stack: &ThreadStack) -> Vec<Shown> {
        let root = stack.frames.iter().position(|frame| !is_of_system(&frame.module)).unwrap_or(0);
        stack.frames[root..].iter().map(|frame| self.shown(frame)).collect()
    }

    fn shown(&mut self, frame: &Frame) -> Shown {
        let is_of_system = is_of_system(&frame.module);
        let name = match &frame.function {
            Some(function) => match self.0.get(function) {
                Some(short) => short.clone(),
                None => self.0.entry(function.clone()).or_insert_with(|| short_name(function)).clone(),
            },
            None if frame.module.is_empty() => "[unknown]".to_owned(),
            None if is_of_system => format!("[{}]", frame.module),
            // Without a symbol, the beginning of the function is not known. So each address counts as a function of its
            // own.
            None => format!("[{}+{:#x}]", frame.module.replace(';', ","), frame.offset),
        };
        Shown { name, is_named: frame.function.is_some(), is_of_system }
    }
}

fn kind(patterns: Option<&'static Patterns>, thread: &str, frames: &[Shown]) -> &'static str {
    let kinds = patterns.map_or(&[][..], |patterns| patterns.kinds);
    let has = |functions: &[&str]| frames.iter().any(|frame| frame.is_named && fits(&frame.name, functions));
    let by_frames = kinds.iter().find(|kind| has(kind.functions));
    let kind = by_frames.or_else(|| kinds.iter().find(|kind| fits(thread, kind.threads)));
    kind.map_or(OTHER, |kind| kind.name)
}

/// Whether a thread waits for its client. A thread that has no client, and is kept for the next connection, waits
/// directly in its outermost function.
fn is_idle(patterns: Option<&'static Patterns>, frames: &[Shown]) -> bool {
    let Some(patterns) = patterns else { return false };
    let of_engine = || frames.iter().filter(|frame| !frame.is_of_system && frame.is_named);
    of_engine().any(|frame| fits(&frame.name, patterns.client_waits))
        || of_engine()
            .next_back()
            .is_some_and(|frame| fits(&frame.name, &["do_handle_one_connection", "handle_connection"]))
}

/// Returns the innermost function of the engine that has a name and does more than wait or lock. If there is none,
/// returns the innermost function of the engine. If the stack has no function of the engine, returns the innermost
/// function of the stack.
fn function(patterns: Option<&'static Patterns>, frames: &[Shown]) -> String {
    let waits = patterns.map_or(&[][..], |patterns| patterns.waits);
    let innermost = |wanted: &dyn Fn(&Shown) -> bool| frames.iter().rev().find(|frame| wanted(frame));
    innermost(&|frame| !frame.is_of_system && frame.is_named && !fits(&frame.name, waits))
        .or_else(|| innermost(&|frame| !frame.is_of_system))
        .or_else(|| frames.last())
        .map_or_else(String::new, |frame| frame.name.clone())
}

/// Joins the names with `;`. Neighbouring frames without names become one frame if they are shown alike, such as frames
/// of one system library.
fn joined(frames: &[Shown]) -> String {
    let mut names: Vec<&str> = frames.iter().map(|frame| frame.name.as_str()).collect();
    names.dedup_by(|a, b| a == b && a.starts_with('['));
    names.join(";")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Makes a stack from frames. The outermost frame comes first. A frame is `module function`, or `module` if the
    /// function has no name.
    fn stack(thread: &str, frames: &[&str], count: u32) -> ThreadStack {
        let frame = |(at, text): (usize, &&str)| {
            let (module, function) = text.split_once(' ').unwrap_or((text, ""));
            let function = Some(function.to_owned()).filter(|function| !function.is_empty());
            Arc::new(Frame { function, module: module.to_owned(), offset: 0x10 + at as u64 })
        };
        let frames = frames.iter().enumerate().map(frame).collect();
        ThreadStack { thread: thread.to_owned(), frames, count }
    }

    fn only(family: Family, stack: ThreadStack) -> FoldedStack {
        fold_stacks(family, &[stack]).stacks.remove(0)
    }

    #[test]
    fn a_wait_is_named_after_who_waits() {
        let found = only(
            Family::Mysql,
            stack(
                "mysqld",
                &[
                    "libc.so.6 __clone3",
                    "libc.so.6 start_thread",
                    "mysqld pfs_spawn_thread",
                    "mysqld do_handle_one_connection(THD*)",
                    "mysqld buf_LRU_get_free_block(buf_pool_t*)",
                    "mysqld os_event_wait_low(os_event*, long)",
                    "libc.so.6 pthread_cond_wait@@GLIBC_2.3.2",
                    "libc.so.6",
                    "libc.so.6",
                ],
                7,
            ),
        );
        assert_eq!((found.kind.as_str(), found.function.as_str()), ("connection", "buf_LRU_get_free_block"));
        assert!(!found.is_idle);
        assert_eq!(
            found.frames,
            "pfs_spawn_thread;do_handle_one_connection;buf_LRU_get_free_block;os_event_wait_low;pthread_cond_wait;[libc.so.6]"
        );
    }

    #[test]
    fn a_connection_that_reads_or_is_kept_waits_for_its_client() {
        let connection = ["mysqld handle_one_connection", "mysqld do_handle_one_connection(CONNECT*, bool)"];
        let reads =
            [&connection[..], &["mysqld my_net_read", "mysqld vio_io_wait", "libc.so.6 __poll"]].concat();
        let kept = [&connection[..], &["libc.so.6 pthread_cond_timedwait"]].concat();
        let works = [&connection[..], &["mysqld dispatch_command", "libc.so.6 write"]].concat();
        let waits = |frames: &[&str]| only(Family::Mariadb, stack("mariadbd", frames, 1)).is_idle;
        assert_eq!([waits(&reads), waits(&kept), waits(&works)], [true, true, false]);
        let backend = ["postgres PostgresMain", "postgres secure_read", "postgres WaitEventSetWait"];
        assert!(only(Family::Postgres, stack("postgres", &backend, 1)).is_idle);
    }

    #[test]
    fn a_kind_is_found_by_functions_or_else_by_the_name_of_the_thread() {
        let kind = |family, thread: &str, frames: &[&str]| only(family, stack(thread, frames, 1)).kind;
        assert_eq!(kind(Family::Mysql, "mysqld", &["mysqld io_handler_thread"]), "I/O");
        assert_eq!(kind(Family::Mysql, "ib_log_flush", &["mysqld"]), "redo log");
        assert_eq!(kind(Family::Mysql, "connection", &["mysqld"]), "connection");
        assert_eq!(
            kind(Family::Postgres, "postgres", &["postgres PostmasterMain", "postgres CheckpointerMain"]),
            "checkpointer"
        );
        assert_eq!(kind(Family::Postgres, "postgres", &["postgres PostmasterMain"]), "postmaster");
        assert_eq!(kind(Family::Sqlite, "dyno", &["dyno main"]), OTHER);
    }

    #[test]
    fn frames_without_a_name_are_counted_and_told_apart() {
        let folded = fold_stacks(
            Family::Mariadb,
            &[
                stack("m", &["mariadbd", "mariadbd handle_one_connection", "libc.so.6"], 3),
                stack("m", &["libc.so.6 start_thread", "mariadbd run"], 6),
                stack("m", &["libc.so.6 clone", "mariadbd run"], 1),
                stack("m", &[""], 1),
            ],
        );
        assert!((folded.unnamed_share - 3.0 / 13.0).abs() < 1e-12, "{}", folded.unnamed_share);
        let lines: Vec<_> = folded.stacks.iter().map(|stack| (stack.frames.as_str(), stack.count)).collect();
        assert!(lines.contains(&("[unknown]", 1)), "{lines:?}");
        assert_eq!(lines[..2], [("run", 7), ("[mariadbd+0x10];handle_one_connection;[libc.so.6]", 3)]);
        assert_eq!(folded.stacks[1].function, "handle_one_connection");
    }
}

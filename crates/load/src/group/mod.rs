//! Combines load processes on several hosts into one load: the processes begin together, and their frames are merged.

mod merge;

use std::collections::VecDeque;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::protocol::frame::{Connected, Frame, Milestone, Tick, Total};
use crate::protocol::job::Job;
use crate::protocol::process::{FrameSource, LoadProcess, LoadProcessError};

/// Longest time to wait for a frame of one process before the next process gets its turn. It is short, so that no
/// process's frames wait for long.
const TURN: Duration = Duration::from_millis(5);

/// If a process that has begun sends no frame for this time, it counts as silent. It should send a tick each second.
const SILENT_AFTER: Duration = Duration::from_millis(2500);

/// Load processes among which one load is divided. Dropping the group kills them.
#[derive(Debug)]
pub struct LoadGroup {
    members: Vec<Member>,
    /// Merged frames that have not been taken yet.
    ready: VecDeque<(Instant, Frame)>,
    /// Sum of the figures of all measured intervals so far.
    sum: Total,
    /// Whether the processes wait for [`FrameSource::begin`] when all have connected.
    is_held: bool,
}

/// A load process of a group.
#[derive(Debug)]
struct Member {
    name: String,
    connections: u32,
    process: LoadProcess,
    heard_at: Instant,
    connected: Option<Connected>,
    measuring_at: Option<Instant>,
    /// Whether the process only waits for its events in flight, and begins no more. It then sends no more ticks.
    is_ending: bool,
    /// `warmup` and `measured` contain the ticks of this process that are not merged yet, because another process has
    /// not sent its tick for the same interval.
    warmup: VecDeque<Tick>,
    measured: VecDeque<Tick>,
    /// Sum of the figures of this process's measured intervals so far.
    sum: Total,
    total: Option<Total>,
}

/// The figures of one load process of a group.
#[derive(Clone, Debug)]
pub struct MemberFigures {
    pub name: String,
    pub connections: u32,
    /// Number of the process's threads; `None` if it did not connect.
    pub threads: Option<u32>,
    /// Time from when the first process began to measure until this process did, by this host's clock; `None` if this
    /// process did not begin.
    pub began_after: Option<Duration>,
    /// The process's measurements. If the process did not send its total, this is the sum of the intervals that it
    /// sent.
    pub total: Total,
}

impl LoadGroup {
    /// Starts load processes and divides a job among them. Each command starts one load process, perhaps on another
    /// host, as `ssh host dyno drive` does. The text beside a command is the name of its process in messages. When all
    /// processes have connected, they begin together, or wait together if the job [awaits](Job::awaits_begin) an order
    /// to begin.
    ///
    /// # Errors
    /// A command cannot be started or does not read its input. The error is a message that contains the command's name.
    pub fn start(commands: Vec<(String, Command)>, job: &Job) -> Result<Self, String> {
        let parts = job.divided(commands.len() as u32);
        let member = |((name, mut command), part): ((String, Command), Job)| {
            command.stderr(Stdio::piped());
            let process =
                LoadProcess::start(command, &part).map_err(|error| of_member(&name, &error.to_string()))?;
            Ok(Member::new(name, part.connections, process))
        };
        let members = commands.into_iter().zip(parts).map(member).collect::<Result<_, String>>()?;
        Ok(Self { members, ready: VecDeque::new(), sum: Total::default(), is_held: job.awaits_begin })
    }

    /// The figures of each process.
    pub fn figures(&self) -> Vec<MemberFigures> {
        let first = self.members.iter().filter_map(|member| member.measuring_at).min();
        let figures = |member: &Member| MemberFigures {
            name: member.name.clone(),
            connections: member.connections,
            threads: member.connected.as_ref().map(|connected| connected.threads),
            began_after: member.measuring_at.zip(first).map(|(at, first)| at.duration_since(first)),
            total: member.total.clone().unwrap_or_else(|| member.sum.clone()),
        };
        self.members.iter().map(figures).collect()
    }

    fn accept(&mut self, number: usize, at: Instant, frame: Frame) {
        let member = &mut self.members[number];
        member.heard_at = at;
        match frame {
            Frame::Connected(connected) => {
                member.connected = Some(connected);
                self.connected(at);
            }
            Frame::Measuring => {
                member.measuring_at = Some(at);
                if self.members.iter().all(|member| member.measuring_at.is_some()) {
                    self.members.iter_mut().for_each(|member| member.warmup.clear());
                    self.ready.push_back((at, Frame::Measuring));
                }
            }
            Frame::Tick(tick) if tick.warmup => {
                member.warmup.push_back(tick);
                self.merge_ticks(at, |member| &mut member.warmup);
            }
            Frame::Tick(tick) => {
                member.sum.add(&tick);
                member.measured.push_back(tick);
                self.merge_ticks(at, |member| &mut member.measured);
            }
            Frame::Log { text } => {
                let text = format!("{}: {text}", member.name);
                self.ready.push_back((at, Frame::Log { text }));
            }
            Frame::Finished(total) => {
                member.total = Some(total);
                // The process that finished sends no more ticks, so the others' ticks need not wait for it any longer.
                self.merge_ticks(at, |member| &mut member.measured);
                self.finish(at);
            }
            Frame::Failed { message, .. } => self.fail(number, at, &message),
            Frame::Reached { milestone } => member.is_ending |= milestone == Milestone::Ending,
            Frame::Slice(_) | Frame::Names { .. } => {}
        }
    }

    /// Once the last process has connected, orders all processes to begin, unless they are held.
    fn connected(&mut self, at: Instant) {
        let connected: Option<Vec<&Connected>> =
            self.members.iter().map(|member| member.connected.as_ref()).collect();
        let Some(merged) = connected.and_then(|parts| merge::connected(&parts)) else { return };
        self.ready.push_back((at, Frame::Connected(merged)));
        if !self.is_held {
            self.begin_together();
        }
    }

    fn begin_together(&mut self) {
        for number in 0..self.members.len() {
            if let Err(error) = self.members[number].process.begin() {
                return self.fail(number, Instant::now(), &error.to_string());
            }
        }
    }

    /// Merges each interval for which all processes have sent a tick. Processes that have finished are not waited for.
    fn merge_ticks(&mut self, at: Instant, of: fn(&mut Member) -> &mut VecDeque<Tick>) {
        while self.members.iter_mut().all(|member| member.total.is_some() || !of(member).is_empty()) {
            let parts: Vec<Tick> =
                self.members.iter_mut().filter_map(|member| of(member).pop_front()).collect();
            let Some(merged) = merge::tick(&parts) else { return };
            if !merged.warmup {
                self.sum.add(&merged);
            }
            self.ready.push_back((at, Frame::Tick(merged)));
        }
    }

    /// Queues the merged total once all processes have ended.
    fn finish(&mut self, at: Instant) {
        let totals: Option<Vec<(u32, &Total)>> =
            self.members.iter().map(|member| Some((member.connections, member.total.as_ref()?))).collect();
        if let Some(totals) = totals {
            let merged = merge::total(&totals);
            self.ready.push_back((at, Frame::Finished(merged)));
        }
    }

    /// Queues the frame that ends the load. It is called when one of the processes has failed.
    fn fail(&mut self, number: usize, at: Instant, message: &str) {
        let message = of_member(&self.members[number].name, message);
        self.ready.push_back((at, Frame::Failed { message, total: self.measured(), is_whole: false }));
    }

    /// The measurements of all processes so far; `None` until all have begun.
    fn measured(&self) -> Option<Total> {
        self.members.iter().all(|member| member.measuring_at.is_some()).then(|| self.sum.clone())
    }
}

impl FrameSource for LoadGroup {
    fn next_frame(&mut self, timeout: Duration) -> Result<Option<(Instant, Frame)>, LoadProcessError> {
        let until = Instant::now() + timeout;
        loop {
            for number in 0..self.members.len() {
                let left = until.saturating_duration_since(Instant::now());
                let member = &mut self.members[number];
                if member.total.is_some() || !self.ready.is_empty() {
                    continue;
                }
                match member.process.next_frame(left.min(TURN)) {
                    Ok(Some((at, frame))) => self.accept(number, at, frame),
                    Ok(None) => {}
                    Err(error) => self.fail(number, Instant::now(), &error.to_string()),
                }
            }
            if let Some(frame) = self.ready.pop_front() {
                return Ok(Some(frame));
            }
            if Instant::now() >= until {
                return Ok(None);
            }
        }
    }

    fn silence(&self) -> Option<(String, Option<Total>)> {
        // A process that has not connected yet may be silent, because it may be waiting for its server.
        if self.members.iter().any(|member| member.connected.is_none()) {
            return None;
        }
        let is_silent = |member: &&Member| !member.is_ending && member.heard_at.elapsed() > SILENT_AFTER;
        let silent = self.members.iter().find(is_silent)?;
        let message = format!("nothing was heard from it for {} s", silent.heard_at.elapsed().as_secs());
        Some((of_member(&silent.name, &message), self.measured()))
    }

    fn local_pid(&self) -> Option<u32> {
        None
    }

    /// If a process died, the next frame is a [`Frame::Failed`].
    fn begin(&mut self) -> Result<(), LoadProcessError> {
        self.begin_together();
        Ok(())
    }

    fn end(&mut self) {
        self.members.iter_mut().for_each(|member| member.process.end());
    }
}

impl Member {
    fn new(name: String, connections: u32, process: LoadProcess) -> Self {
        Self {
            name,
            connections,
            process,
            heard_at: Instant::now(),
            connected: None,
            measuring_at: None,
            is_ending: false,
            warmup: VecDeque::new(),
            measured: VecDeque::new(),
            sum: Total::default(),
            total: None,
        }
    }
}

fn of_member(name: &str, message: &str) -> String {
    format!("driver {name}: {message}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::job::{Protocol, Script, Target};

    /// A process that connects, begins to measure and then falls silent.
    fn process(name: &str) -> (String, Command) {
        let connected = Connected { connections: 1, threads: 1, method: String::new(), database: true };
        let frames = [Frame::Connected(connected), Frame::Measuring];
        let [connected, measuring] = frames.map(|frame| serde_json::to_string(&frame).expect("a frame"));
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "read job; echo \"$0\"; read begin; echo \"$1\"; read end",
            &connected,
            &measuring,
        ]);
        (name.to_owned(), command)
    }

    #[test]
    fn a_process_that_is_not_heard_is_named_with_what_was_measured() {
        let script = Script { name: String::new(), source: String::new(), search_path: Vec::new() };
        let job = Job { connections: 2, ..Job::new(Target::new(Protocol::Mysql, Vec::new()), script, "run") };
        let mut group = LoadGroup::start(vec![process("a"), process("b")], &job).expect("processes");
        assert_eq!(group.silence().map(|(message, _)| message), None, "nobody has connected");
        while group.members.iter().any(|member| member.measuring_at.is_none()) {
            group.next_frame(Duration::from_secs(60)).expect("frames");
        }
        let long_ago = Instant::now().checked_sub(Duration::from_secs(7)).expect("a time");
        // With a time in the future, the first process does not count as silent, however long the test takes.
        group.members[0].heard_at = Instant::now() + Duration::from_secs(3600);
        group.members[1].heard_at = long_ago;
        let (message, total) = group.silence().expect("a silent process");
        assert!(message.starts_with("driver b: nothing was heard from it for "), "{message}");
        assert!(total.is_some());
        group.accept(1, long_ago, Frame::Reached { milestone: Milestone::Ending });
        assert_eq!(group.silence().map(|(message, _)| message), None, "it waits for its last events");
    }
}

//! I/O by `io_uring`: one system call per iteration of the loop sends the messages of all connections and collects all
//! answers. Needs a kernel with provided buffer rings and multishot receive (Linux 6.0).

use std::collections::VecDeque;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::time::Duration;

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, Probe, cqueue, opcode, squeue};
use socket2::Socket;

use super::buffers::{Buffers, GROUP};
use super::table::Table;
use super::{Io, IoEvent, Token, Waker};

/// Bounds of the size of the submission queue. When the queue is full, the kernel must be entered. An iteration of the
/// loop makes at most two submissions for each socket.
const SUBMISSIONS: std::ops::RangeInclusive<u32> = 64..=1024;
/// A send up to this size fits into an idle socket's buffer, so it completes when it is submitted.
const IMMEDIATE_BYTES: usize = 16 * 1024;
/// Bounds of the number of receive buffers.
const BUFFERS: std::ops::RangeInclusive<usize> = 16..=256;

/// When the ring is closed, it waits for the operations in flight, up to this many times, each time up to `LAST_WAIT`.
const LAST_WAITS: u32 = 10;
const LAST_WAIT: Duration = Duration::from_millis(10);

/// User data of the waker's completions, in place of a token.
const WAKER: u64 = u64::MAX;

/// The operation that a completion answers, kept in bits 24 to 31 of its user data.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
enum Operation {
    Receive = 0,
    Send = 1 << 24,
    Connect = 2 << 24,
}

struct Entry {
    socket: Socket,
    /// Bytes being sent. The kernel reads them, so they do not change before the completion.
    sending: Vec<u8>,
    /// Bytes to send after `sending`.
    queued: Vec<u8>,
    /// Number of submitted operations whose last completion has not arrived.
    in_flight: u8,
    /// Whether nothing has been received since the last send. The socket's buffer may then still contain the bytes of
    /// that send.
    unanswered: bool,
    /// Whether the owner has removed the socket. The entry is kept until the kernel has finished with it.
    closing: bool,
}

/// An [`Io`] that uses `io_uring`.
pub(crate) struct Uring {
    ring: ManuallyDrop<IoUring>,
    waker: Waker,
    entries: Table<Entry>,
    buffers: ManuallyDrop<Buffers>,
    /// Completions that have been taken from the ring, but not handled yet.
    arrived: VecDeque<cqueue::Entry>,
    /// Buffer and length of the most recent [`IoEvent::Received`].
    current: Option<(u16, usize)>,
    in_flight: usize,
    /// Number of sends that were queued since the last wait and will complete as soon as they are submitted.
    immediate_sends: usize,
}

impl Uring {
    pub(crate) fn new(sockets: usize) -> io::Result<Self> {
        let submissions = (sockets as u32).saturating_mul(2).clamp(*SUBMISSIONS.start(), *SUBMISSIONS.end());
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_cqsize(submissions.next_power_of_two() * 4)
            .build(submissions)?;
        let mut probe = Probe::new();
        ring.submitter().register_probe(&mut probe)?;
        // Multishot receive has no operation code, so the kernel cannot be asked for it. SEND_ZC came with the same
        // kernel (6.0), so the kernel is asked for SEND_ZC instead.
        if !probe.is_supported(opcode::SendZc::CODE) {
            return Err(io::Error::from(io::ErrorKind::Unsupported));
        }
        let count = sockets.next_power_of_two().clamp(*BUFFERS.start(), *BUFFERS.end()) as u16;
        let buffers = Buffers::register(&ring, count)?;
        let mut this = Self {
            ring: ManuallyDrop::new(ring),
            waker: Waker::new()?,
            entries: Table::new(),
            buffers: ManuallyDrop::new(buffers),
            arrived: VecDeque::new(),
            current: None,
            in_flight: 0,
            immediate_sends: 0,
        };
        this.watch_waker()?;
        Ok(this)
    }

    /// Listens to the waker, as long as the ring is open.
    fn watch_waker(&mut self) -> io::Result<()> {
        let poll = opcode::PollAdd::new(Fd(self.waker.descriptor()), libc::POLLIN as u32)
            .multi(true)
            .build()
            .user_data(WAKER);
        self.push_entry(&poll)
    }

    fn submit(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        self.in_flight += 1;
        self.push_entry(entry)
    }

    fn push_entry(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        loop {
            // SAFETY: what the entry points to (the socket, its `sending` buffer) stays in the table until the entry's
            // completion has been seen. If the ring is closed earlier, both are leaked.
            if unsafe { self.ring.submission().push(entry) }.is_ok() {
                return Ok(());
            }
            self.ring.submit()?;
            self.immediate_sends = 0;
        }
    }

    fn arm_receive(&mut self, token: Token) -> io::Result<()> {
        let Some(entry) = self.entries.get_mut(token) else { return Ok(()) };
        entry.in_flight += 1;
        let receive = opcode::RecvMulti::new(Fd(entry.socket.as_raw_fd()), GROUP)
            .build()
            .user_data(token.to_bits() | Operation::Receive as u64);
        self.submit(&receive)
    }

    /// Sends the queued bytes, unless a send is under way.
    fn pump(&mut self, token: Token) -> io::Result<()> {
        let Some(entry) = self.entries.get_mut(token) else { return Ok(()) };
        if !entry.sending.is_empty() || entry.queued.is_empty() || entry.closing {
            return Ok(());
        }
        std::mem::swap(&mut entry.sending, &mut entry.queued);
        entry.in_flight += 1;
        let drained = !std::mem::replace(&mut entry.unanswered, true);
        self.immediate_sends += usize::from(drained && entry.sending.len() <= IMMEDIATE_BYTES);
        // With MSG_WAITALL, the kernel continues after a short send, so there is one completion for all bytes.
        let send = opcode::Send::new(
            Fd(entry.socket.as_raw_fd()),
            entry.sending.as_ptr(),
            entry.sending.len() as u32,
        )
        .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
        .build()
        .user_data(token.to_bits() | Operation::Send as u64);
        self.submit(&send)
    }

    /// Submits the queued operations and waits for the given number of events.
    fn enter(&mut self, events: usize, timeout: Option<Duration>) -> io::Result<()> {
        // A small send completes at once if the peer has taken all earlier bytes. Its completion is not an event, but
        // it would end the wait. Waiting for one more completion per such send saves a system call per query.
        let wanted = events + std::mem::take(&mut self.immediate_sends);
        // If there are completions that were taken from the ring but not handled, do not wait: they may be events.
        let wanted = if self.arrived.is_empty() { wanted } else { 0 };
        let submitter = self.ring.submitter();
        let entered = match timeout.map(Timespec::from) {
            Some(timespec) => submitter.submit_with_args(wanted, &SubmitArgs::new().timespec(&timespec)),
            None => submitter.submit_and_wait(wanted),
        };
        match entered {
            Ok(_) => Ok(()),
            Err(error) => match error.raw_os_error() {
                // A timeout or a signal ended the wait, or the ring is too full and its completions must be taken
                // first. In each case, the loop continues.
                Some(libc::ETIME | libc::EINTR | libc::EBUSY) => Ok(()),
                _ => Err(error),
            },
        }
    }

    /// Returns the owner's event for a completion, if there is one.
    fn on_completion(&mut self, completion: &cqueue::Entry) -> io::Result<Option<IoEvent>> {
        let bits = completion.user_data();
        let last = !cqueue::more(completion.flags());
        if bits == WAKER {
            return if last { self.watch_waker().map(|()| None) } else { Ok(None) };
        }
        let token = Token::from_bits(bits);
        let buffer = cqueue::buffer_select(completion.flags());
        if last {
            self.in_flight -= 1;
        }
        let Some(entry) = self.entries.get_mut(token) else { return Ok(None) };
        entry.in_flight -= u8::from(last);
        if entry.closing {
            if entry.in_flight == 0 {
                self.entries.remove(token);
            }
            if let Some(id) = buffer {
                self.buffers.release(id);
            }
            return Ok(None);
        }
        let result = completion.result();
        if bits & Operation::Send as u64 != 0 {
            return self.on_sent(token, result);
        }
        if bits & Operation::Connect as u64 != 0 {
            return self.on_connected(token);
        }
        self.on_received(token, result, buffer, last)
    }

    fn on_sent(&mut self, token: Token, result: i32) -> io::Result<Option<IoEvent>> {
        let Some(entry) = self.entries.get_mut(token) else { return Ok(None) };
        if result < 0 {
            // A failed send is not reported as an event, because the loop must still read what the server sent before
            // it closed the connection.
            return Ok(None);
        }
        entry.sending.drain(..(result as usize).min(entry.sending.len()));
        if !entry.sending.is_empty() {
            // The send was short in spite of MSG_WAITALL. The rest is sent before the queued bytes.
            entry.sending.append(&mut entry.queued);
            std::mem::swap(&mut entry.sending, &mut entry.queued);
        }
        self.pump(token)?;
        Ok(None)
    }

    fn on_connected(&mut self, token: Token) -> io::Result<Option<IoEvent>> {
        let Some(entry) = self.entries.get_mut(token) else { return Ok(None) };
        if let Some(error) = entry.socket.take_error()? {
            return Ok(Some(IoEvent::Closed(token, Some(error))));
        }
        entry.socket.set_nonblocking(false)?;
        self.arm_receive(token)?;
        self.pump(token)?;
        Ok(Some(IoEvent::Connected(token)))
    }

    fn on_received(
        &mut self,
        token: Token,
        result: i32,
        buffer: Option<u16>,
        last: bool,
    ) -> io::Result<Option<IoEvent>> {
        // A lack of buffers is not an error. The loop gives buffers back as it continues.
        let out_of_buffers = result == -libc::ENOBUFS;
        if last && (result > 0 || out_of_buffers) {
            self.arm_receive(token)?;
        }
        Ok(match (result, buffer) {
            (1.., Some(id)) => {
                if let Some(entry) = self.entries.get_mut(token) {
                    entry.unanswered = false;
                }
                self.current = Some((id, result as usize));
                Some(IoEvent::Received(token))
            }
            (0, _) => Some(IoEvent::Closed(token, None)),
            _ if out_of_buffers => None,
            _ => Some(IoEvent::Closed(token, Some(io::Error::from_raw_os_error(-result)))),
        })
    }
}

impl Io for Uring {
    fn add(&mut self, socket: Socket, connecting: bool) -> io::Result<Token> {
        let fd = Fd(socket.as_raw_fd());
        if !connecting {
            // On a non-blocking socket the kernel would return EAGAIN instead of waiting.
            socket.set_nonblocking(false)?;
        }
        let token = self.entries.insert(Entry {
            socket,
            sending: Vec::new(),
            queued: Vec::new(),
            in_flight: u8::from(connecting),
            unanswered: false,
            closing: false,
        });
        if connecting {
            let poll = opcode::PollAdd::new(fd, libc::POLLOUT as u32)
                .build()
                .user_data(token.to_bits() | Operation::Connect as u64);
            self.submit(&poll)?;
        } else {
            self.arm_receive(token)?;
        }
        Ok(token)
    }

    fn socket(&mut self, token: Token) -> Option<&Socket> {
        self.entries.get_mut(token).map(|entry| &entry.socket)
    }

    fn remove(&mut self, token: Token) {
        let Some(entry) = self.entries.get_mut(token) else { return };
        if entry.in_flight == 0 {
            self.entries.remove(token);
            return;
        }
        entry.closing = true;
        if !entry.sending.is_empty() {
            // Submits the last message, so that it is sent before the socket is shut down.
            let _ = self.ring.submit();
            self.immediate_sends = 0;
        }
        let Some(entry) = self.entries.get_mut(token) else { return };
        // This ends the operations in flight. It fails if the socket is not connected, and then no operation is in
        // flight.
        let _ = entry.socket.shutdown(std::net::Shutdown::Both);
    }

    fn send(&mut self, token: Token, bytes: &[u8]) {
        let Some(entry) = self.entries.get_mut(token) else { return };
        entry.queued.extend_from_slice(bytes);
        // If the ring cannot be entered, the next `wait` fails too and returns the error.
        let _ = self.pump(token);
    }

    fn push(&mut self) {
        // If the ring cannot be entered, the next `wait` fails too and returns the error.
        let _ = self.ring.submit();
        self.immediate_sends = 0;
    }

    fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.enter(1, timeout)
    }

    fn gather(&mut self, events: usize, patience: Duration) -> io::Result<()> {
        self.enter(events, Some(patience))?;
        if self.ring.completion().is_empty() { self.enter(1, None) } else { Ok(()) }
    }

    fn waker(&self) -> Waker {
        self.waker.clone()
    }

    fn next(&mut self) -> Option<IoEvent> {
        if let Some((id, _)) = self.current.take() {
            self.buffers.release(id);
        }
        loop {
            if self.arrived.is_empty() {
                self.arrived.extend(self.ring.completion());
            }
            let completion = self.arrived.pop_front()?;
            match self.on_completion(&completion) {
                Ok(None) => {}
                Ok(event) => return event,
                Err(error) => {
                    let token = Token::from_bits(completion.user_data());
                    return Some(IoEvent::Closed(token, Some(error)));
                }
            }
        }
    }

    fn upcoming(&self, places: usize) -> Option<Token> {
        self.arrived.get(places).map(|completion| Token::from_bits(completion.user_data()))
    }

    fn bytes(&self) -> &[u8] {
        self.current.map_or(&[], |(id, length_bytes)| self.buffers.get(id, length_bytes))
    }

    fn name(&self) -> &'static str {
        "io_uring"
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        // Removing a socket ends its operations in flight. Wait until they have ended, but not forever.
        for _ in 0..LAST_WAITS {
            if self.in_flight == 0 || self.wait(Some(LAST_WAIT)).is_err() {
                break;
            }
            while self.next().is_some() {}
        }
        // SAFETY: neither field is used after this.
        unsafe {
            ManuallyDrop::drop(&mut self.ring);
            // The kernel ends operations in flight some time after the ring is closed. Until then it may
            // still write to the buffers, so they are leaked rather than freed while in use.
            if self.in_flight == 0 {
                ManuallyDrop::drop(&mut self.buffers);
            } else {
                std::mem::forget(std::mem::replace(&mut self.entries, Table::new()));
            }
        }
    }
}

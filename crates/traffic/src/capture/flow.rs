//! A TCP connection in a capture.

use super::recognise::{Seen, recognise};
use super::segment::Segment;
use super::session::{At, Session, Standing, Tell};
use super::stream::{Piece, Stream};
use crate::error::TrafficError;
use crate::log::{Event, See, Trouble};
use crate::sql::Dialect;

/// How often a connection on another port than the default port may be mistaken for a connection to the database. After
/// that, the connection is ignored.
const MISTAKES_MAX: u8 = 8;

/// One of the two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The end with the lower address.
    Low,
    High,
}

impl Side {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Low => Self::High,
            Self::High => Self::Low,
        }
    }
}

/// A connection with the bytes of both directions.
pub(super) struct Flow {
    name: Vec<u8>,
    dialect: Dialect,
    streams: [Stream; 2],
    /// The side that is the client. `None` as long as neither the first packets nor a port show it.
    client: Option<Side>,
    /// Whether the connection's first packet was captured.
    has_begin: bool,
    /// Whether one of the ports is the product's default.
    is_default_port: bool,
    state: State,
    /// How often the connection was mistaken for a connection to the database.
    mistakes: u8,
    /// Whether a part of the connection was read with certainty, or a problem with the connection was reported. Until
    /// then, the connection may turn out to use another protocol.
    is_known: bool,
    /// The most recent packet of the connection.
    last: At,
}

enum State {
    /// Nothing shows yet whether the connection speaks the protocol.
    Undecided,
    Speaks(Box<dyn Session>),
    /// The connection speaks another protocol.
    Unrelated,
    Closed,
}

impl Flow {
    /// Creates a connection whose first packet has not been seen. `server` is the side with the product's default port;
    /// `None` if neither side or both have it.
    pub(super) fn new(name: Vec<u8>, dialect: Dialect, server: Option<Side>) -> Self {
        Self {
            name,
            dialect,
            streams: <[Stream; 2]>::default(),
            client: server.map(Side::other),
            has_begin: false,
            is_default_port: server.is_some(),
            state: State::Undecided,
            mistakes: 0,
            is_known: false,
            last: At::default(),
        }
    }

    /// The packet that was seen last.
    pub(super) fn last(&self) -> At {
        self.last
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    pub(super) fn held_bytes(&self) -> usize {
        let session = match &self.state {
            State::Speaks(session) => session.held_bytes(),
            _ => 0,
        };
        session + self.streams.iter().map(Stream::held_bytes).sum::<usize>()
    }

    /// Whether an opening segment with the addresses of this connection opens a new connection. Otherwise, the segment
    /// belongs to this connection.
    pub(super) fn is_another(&self, side: Side, segment: &Segment<'_>) -> bool {
        let begin = segment.sequence.wrapping_add(1);
        self.is_closed()
            || self.streams[side as usize].has_begun() && !self.streams[side as usize].is_at(begin)
    }

    /// Reads a segment that one side sent.
    pub(super) fn segment(
        &mut self,
        side: Side,
        at: At,
        segment: &Segment<'_>,
        see: See<'_>,
    ) -> Result<(), TrafficError> {
        if self.is_closed() {
            return Ok(());
        }
        self.last = at;
        let mut sequence = segment.sequence;
        if segment.is_syn {
            sequence = sequence.wrapping_add(1);
            if !self.streams[side as usize].has_begun() {
                self.streams[side as usize].begin(sequence);
            }
            self.client = Some(if segment.acknowledged.is_some() { side.other() } else { side });
            self.has_begin = true;
        }
        if !segment.payload.is_empty() || segment.missing_bytes > 0 {
            self.with_stream(side, at, see, |stream, deliver| {
                stream.push(sequence, segment.payload, segment.missing_bytes, deliver)
            })?;
            if matches!(self.state, State::Unrelated | State::Undecided) {
                see(at.number, Event::Unrelated)?;
            }
        }
        if let Some(acknowledged) = segment.acknowledged {
            self.with_stream(side.other(), at, see, |stream, deliver| {
                stream.acknowledge(acknowledged, deliver)
            })?;
        }
        if segment.is_fin {
            self.streams[side as usize].finish(sequence, segment.payload.len() + segment.missing_bytes);
        }
        let is_waiting = matches!(&self.state, State::Speaks(session) if session.is_waiting());
        let ends = self.streams.iter().filter(|stream| stream.is_finished()).count();
        if segment.is_reset || ends == 2 || ends == 1 && !is_waiting {
            return self.close(at, see);
        }
        Ok(())
    }

    /// Calls `change` with the stream of one side, and reads the bytes that the stream delivers.
    fn with_stream(
        &mut self,
        side: Side,
        at: At,
        see: See<'_>,
        change: impl FnOnce(&mut Stream, super::stream::Deliver<'_>) -> Result<(), TrafficError>,
    ) -> Result<(), TrafficError> {
        let mut stream = std::mem::take(&mut self.streams[side as usize]);
        let changed = change(&mut stream, &mut |piece| self.piece(side, at, piece, see));
        self.streams[side as usize] = stream;
        changed
    }

    fn piece(&mut self, side: Side, at: At, piece: Piece<'_>, see: See<'_>) -> Result<(), TrafficError> {
        let bytes = match piece {
            Piece::Bytes(bytes) => bytes,
            Piece::Missing => return self.lose(Trouble::PacketsMissing, at, see),
            Piece::Truncated => return self.lose(Trouble::PacketCut, at, see),
        };
        if let State::Undecided = self.state {
            let seen = Seen {
                bytes,
                is_client: self.client.map(|client| client == side),
                has_begin: self.has_begin,
                is_default_port: self.is_default_port,
            };
            match recognise(self.dialect, &seen) {
                Some(_) if self.mistakes == MISTAKES_MAX => self.state = State::Unrelated,
                Some(recognised) => {
                    self.client = Some(if recognised.is_client { side } else { side.other() });
                    self.state = State::Speaks(recognised.session);
                    return self.speak(side, at, bytes, see);
                }
                None if self.has_begin => self.state = State::Unrelated,
                None => {}
            }
            return Ok(());
        }
        self.speak(side, at, bytes, see)
    }

    /// Passes bytes to the session.
    fn speak(&mut self, side: Side, at: At, bytes: &[u8], see: See<'_>) -> Result<(), TrafficError> {
        let State::Speaks(session) = &mut self.state else { return Ok(()) };
        let mut tell = Tell { name: &self.name, at, see };
        if self.client == Some(side) {
            session.client(bytes, &mut tell)?;
        } else {
            session.server(bytes, &mut tell)?;
        }
        self.is_known |= matches!(session.standing(), Standing::Certain | Standing::Over);
        if !self.is_known && !self.is_default_port && session.standing() == Standing::Lost {
            self.client = None;
            self.state = State::Undecided;
            self.mistakes += 1;
        }
        Ok(())
    }

    /// Handles the loss of a part of the connection.
    fn lose(&mut self, trouble: Trouble, at: At, see: See<'_>) -> Result<(), TrafficError> {
        let is_loss = match &mut self.state {
            State::Speaks(session) => session.lose(),
            State::Undecided => {
                // The bytes after the loss are not the first bytes of the connection.
                self.has_begin = false;
                self.is_default_port
            }
            State::Unrelated | State::Closed => false,
        };
        if is_loss { see(at.number, Event::Trouble(trouble)) } else { Ok(()) }
    }

    /// Frees the memory of the connection, because all connections together use too much memory. Reports the loss.
    pub(super) fn give_up(&mut self, see: See<'_>) -> Result<(), TrafficError> {
        let fresh = Self::new(std::mem::take(&mut self.name), self.dialect, None);
        *self = Self {
            client: self.client,
            is_default_port: self.is_default_port,
            is_known: true,
            last: self.last,
            ..fresh
        };
        see(self.last.number, Event::Trouble(Trouble::TooLong))
    }

    /// Starts the next file of the capture, whose packets are numbered from 1.
    pub(super) fn begin_file(&mut self) {
        self.last.number = 1;
        if let State::Speaks(session) = &mut self.state {
            session.begin_file();
        }
    }

    /// Ends the connection.
    pub(super) fn close(&mut self, at: At, see: See<'_>) -> Result<(), TrafficError> {
        self.end(see)?;
        let State::Speaks(_) = std::mem::replace(&mut self.state, State::Closed) else { return Ok(()) };
        see(at.number, Event::Closed { session: &self.name, at_us: at.at_us })
    }

    /// Handles incomplete data and requests at the end of the connection or of the capture.
    pub(super) fn end(&mut self, see: See<'_>) -> Result<(), TrafficError> {
        let last = self.last;
        for side in [Side::Low, Side::High] {
            self.with_stream(side, last, see, |stream, deliver| stream.flush(deliver))?;
        }
        let State::Speaks(session) = &self.state else { return Ok(()) };
        if !self.is_known && session.standing() == Standing::Lost {
            return see(last.number, Event::Trouble(Trouble::NotRecognised));
        }
        if session.is_waiting() && session.standing() == Standing::Certain {
            return see(last.number, Event::Trouble(Trouble::Cut));
        }
        Ok(())
    }
}

//! The compressed protocol. After the login, packets travel in frames, which are compressed if that makes them
//! smaller.

mod coder;
mod frames;
mod zlib;
mod zstd;

use self::frames::{FRAME_BYTES_MAX, Frames};
use crate::client::{Client, Event, Login, StatementId, Value};
use crate::error::ProtocolError;
use crate::mysql::Connection;
use crate::mysql::framing::compression::Compression;
use crate::mysql::values::column::Fields;
use crate::outbox::Outbox;

/// A [`Connection`] that uses compression if the server supports it.
pub struct Compressed {
    inner: Connection,
    /// Writer and reader of frames; `None` while the connection is uncompressed.
    frames: Option<Box<Frames>>,
    output: Outbox,
    /// Error of an invalid frame. [`Client::advance`] returns it.
    broken: Option<ProtocolError>,
}

impl Compressed {
    /// Creates a connection that waits for the server's handshake packet. `compression` lists the algorithms that the
    /// connection may use.
    pub fn new(login: Login, compression: Compression) -> Self {
        Self {
            inner: Connection::with_compression(login, compression),
            frames: None,
            output: Outbox::default(),
            broken: None,
        }
    }

    /// Advances the inner connection with the decompressed data. Decompresses the next frame only when that data is
    /// used up.
    fn advance_unpacked(&mut self) -> Result<Event, ProtocolError> {
        loop {
            let event = self.inner.advance()?;
            let Some(frames) = self.frames.as_mut().filter(|_| event == Event::NeedInput) else {
                return Ok(event);
            };
            match frames.read(|plain| self.inner.receive(plain)) {
                Ok(true) => {}
                Ok(false) => return Ok(Event::NeedInput),
                Err(error) => {
                    self.broken = Some(error.clone());
                    return Err(error);
                }
            }
        }
    }

    /// Wraps the command that the inner connection has just written in frames numbered from 0.
    fn frame_command(&mut self) {
        if let Some(frames) = &mut self.frames {
            frames.start_command();
        }
        self.frame();
    }

    /// Wraps the output of the inner connection in frames.
    fn frame(&mut self) {
        let Some(frames) = &mut self.frames else { return };
        for plain in self.inner.output().chunks(FRAME_BYTES_MAX) {
            frames.write(plain, self.output.end());
        }
        let plain_bytes = self.inner.output().len();
        self.inner.consume_output(plain_bytes);
    }
}

impl Client for Compressed {
    fn output(&self) -> &[u8] {
        if self.frames.is_some() { self.output.pending() } else { self.inner.output() }
    }

    fn consume_output(&mut self, sent_bytes: usize) {
        if self.frames.is_some() {
            self.output.consume(sent_bytes);
        } else {
            self.inner.consume_output(sent_bytes);
        }
    }

    fn receive(&mut self, bytes: &[u8]) {
        match &mut self.frames {
            None => self.inner.receive(bytes),
            Some(frames) => frames.receive(bytes),
        }
    }

    fn advance(&mut self) -> Result<Event, ProtocolError> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let event = self.advance_unpacked()?;
        if event == Event::Ready
            && let Some(algorithm) = self.inner.algorithm()
        {
            self.frames = Some(Box::new(Frames::new(algorithm)));
        }
        // An answer within a command, such as to a request for a local file, continues the server's sequence
        // numbers. It is therefore framed here, without a restart at 0.
        self.frame();
        Ok(event)
    }

    fn tls_established(&mut self) {
        self.inner.tls_established();
    }

    fn query(&mut self, sql: &[u8]) {
        self.inner.query(sql);
        self.frame_command();
    }

    fn load(&mut self, sql: &[u8], data: &[u8]) {
        self.inner.load(sql, data);
        self.frame_command();
    }

    fn prepare_typed(&mut self, sql: &[u8], types: &[u32]) {
        self.inner.prepare_typed(sql, types);
        self.frame_command();
    }

    fn execute(&mut self, statement: StatementId, params: &[Value<'_>]) {
        self.inner.execute(statement, params);
        self.frame_command();
    }

    fn close_statement(&mut self, statement: StatementId) {
        self.inner.close_statement(statement);
        self.frame_command();
    }

    fn next_result(&mut self) {
        self.inner.next_result();
    }

    fn quit(&mut self) {
        self.inner.quit();
        self.frame_command();
    }

    fn next_row(&mut self, fields: &mut Fields) -> bool {
        self.inner.next_row(fields)
    }

    fn field_names(&self) -> Vec<String> {
        self.inner.field_names()
    }

    fn first_statement(&self) -> Option<&'static str> {
        self.inner.first_statement()
    }

    fn server_version(&self) -> &str {
        self.inner.server_version()
    }
}

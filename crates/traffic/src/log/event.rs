//! Events that logs report.

/// An event that a log reports. Sessions have the server's names. Moments are in µs since 1970 UTC.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A session executed a statement.
    Statement(Statement<'a>),
    /// The duration of a session's last statement.
    Duration {
        session: &'a [u8],
        latency_us: u64,
    },
    /// A statement failed. It may have been logged before.
    Failed(Statement<'a>),
    Connected {
        session: &'a [u8],
        at_us: i64,
        user: Option<&'a [u8]>,
        database: Option<&'a [u8]>,
    },
    /// The database of a session from here on.
    Database {
        session: &'a [u8],
        name: &'a [u8],
    },
    Closed {
        session: &'a [u8],
        at_us: i64,
    },
    /// The start of a log file, with the server's description of itself. A server writes it when it starts, and when it
    /// reopens its log.
    Server {
        description: &'a [u8],
    },
    /// A command that executes no statement, such as `Prepare`.
    Command(&'a str),
    /// An entry without a statement.
    Unrelated,
    Trouble(Trouble),
}

/// An executed statement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statement<'a> {
    pub session: &'a [u8],
    /// When it began.
    pub at_us: i64,
    pub text: &'a [u8],
    /// Values that were sent separately from the text; `None` is NULL.
    pub bound: &'a [Option<Vec<u8>>],
    pub user: Option<&'a [u8]>,
    /// `None` if the log does not show it here.
    pub database: Option<&'a [u8]>,
    pub latency_us: Option<u64>,
    pub rows_sent: Option<u64>,
    pub rows_examined: Option<u64>,
    pub rows_affected: Option<u64>,
    /// MySQL's error number or PostgreSQL's SQLSTATE. `None` if the statement succeeded, or if the log does not show
    /// it.
    pub error: Option<&'a [u8]>,
}

/// A problem with a part of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trouble {
    /// The log ends, or another entry begins, in the middle of an entry.
    Cut,
    /// A statement or a line is too long to be kept.
    TooLong,
    /// A line belongs to no entry.
    NotRecognised,
    /// An entry has no time.
    NoTime,
    /// An entry has no session.
    NoSession,
    /// The compressed log, or the capture, is damaged from here on.
    Damaged,
    /// A session of a capture is encrypted or compressed.
    Encrypted,
    /// Packets of a session were not captured. Its requests up to the next one that is whole are lost.
    PacketsMissing,
    /// The snap length of a capture has cut off the end of a packet.
    PacketCut,
    /// The statement's last string, name or comment is not closed. It was imported.
    Unclosed,
    /// The statement's names are not UTF-8. It was imported with replacement characters.
    NotUtf8,
    /// The clock is at least a second before that of the previous entry.
    ClockBack,
    /// Times have no known zone, and were taken as UTC.
    NoZone,
    /// The server started, or reopened its log. All sessions end here.
    Restarted,
    /// The log continues with another server.
    OtherServer,
    /// A session continues with another user. It was imported as a new session.
    OtherUser,
}

impl Trouble {
    pub const ALL: [Self; 16] = [
        Self::Cut,
        Self::TooLong,
        Self::NotRecognised,
        Self::NoTime,
        Self::NoSession,
        Self::Damaged,
        Self::Encrypted,
        Self::PacketsMissing,
        Self::PacketCut,
        Self::Unclosed,
        Self::NotUtf8,
        Self::ClockBack,
        Self::NoZone,
        Self::Restarted,
        Self::OtherServer,
        Self::OtherUser,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Cut => "cut",
            Self::TooLong => "too_long",
            Self::NotRecognised => "not_recognised",
            Self::NoTime => "no_time",
            Self::NoSession => "no_session",
            Self::Damaged => "damaged",
            Self::Encrypted => "encrypted",
            Self::PacketsMissing => "packets_missing",
            Self::PacketCut => "packet_cut",
            Self::Unclosed => "unclosed",
            Self::NotUtf8 => "not_utf8",
            Self::ClockBack => "clock_back",
            Self::NoZone => "no_zone",
            Self::Restarted => "restarted",
            Self::OtherServer => "other_server",
            Self::OtherUser => "other_user",
        }
    }

    /// The trouble with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|trouble| trouble.name() == name)
    }

    /// Whether a statement may be missing because of it.
    pub fn loses(self) -> bool {
        matches!(
            self,
            Self::Cut
                | Self::TooLong
                | Self::NotRecognised
                | Self::NoTime
                | Self::NoSession
                | Self::Damaged
                | Self::Encrypted
                | Self::PacketsMissing
                | Self::PacketCut
        )
    }
}

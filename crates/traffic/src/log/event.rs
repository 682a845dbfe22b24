//! Events that logs report.

/// An event that a log reports. Sessions have the names that the server gives them. Moments are in µs since 1970
/// UTC.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A session executed a statement.
    Statement(Statement<'a>),
    /// The duration of a session's last statement.
    Duration {
        session: &'a [u8],
        latency_us: u64,
    },
    /// A statement failed. The log may have reported the statement before, without the error.
    Failed(Statement<'a>),
    Connected {
        session: &'a [u8],
        at_us: i64,
        user: Option<&'a [u8]>,
        database: Option<&'a [u8]>,
    },
    /// The database that a session uses from here on.
    Database {
        session: &'a [u8],
        name: &'a [u8],
    },
    Closed {
        session: &'a [u8],
        at_us: i64,
    },
    /// The start of a log file, with the server's description of itself. A server writes this when it starts, and
    /// when it reopens its log.
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
    /// When the statement began, in µs since 1970 UTC.
    pub at_us: i64,
    pub text: &'a [u8],
    /// Values that were sent separately from the text. `None` stands for NULL.
    pub bound: &'a [Option<Vec<u8>>],
    pub user: Option<&'a [u8]>,
    /// The database in which the statement was executed; `None` if the log does not show it here.
    pub database: Option<&'a [u8]>,
    pub latency_us: Option<u64>,
    pub rows_sent: Option<u64>,
    pub rows_examined: Option<u64>,
    pub rows_affected: Option<u64>,
    /// MySQL's error number or PostgreSQL's SQLSTATE. `None` if the statement succeeded, or if the log does not show
    /// errors.
    pub error: Option<&'a [u8]>,
}

/// A problem with a part of a log or capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trouble {
    /// An entry is incomplete, because the log ends or another entry begins.
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
    /// Packets of a session were not captured. The requests up to the next whole request are lost.
    PacketsMissing,
    /// The snap length of a capture has cut off the end of a packet.
    PacketCut,
    /// The last string, name or comment of a statement is not closed. The statement was imported.
    Unclosed,
    /// The names in a statement are not UTF-8. The statement was imported with replacement characters.
    NotUtf8,
    /// The time of an entry is more than a second before the time of the previous entry.
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

    /// The kind of problem with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|trouble| trouble.name() == name)
    }

    /// Whether a statement may be missing because of the problem.
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

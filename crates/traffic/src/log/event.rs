//! What logs say.

/// Something that a log says. Sessions are named as the server names them. Moments are µs since 1970 UTC.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A session executed a statement.
    Statement(Statement<'a>),
    /// The last statement of a session took this time.
    Duration {
        session: &'a [u8],
        latency_us: u64,
    },
    /// A statement failed. It was logged before, or not.
    Failed(Statement<'a>),
    Connected {
        session: &'a [u8],
        at_us: i64,
        user: Option<&'a [u8]>,
        database: Option<&'a [u8]>,
    },
    /// A session has another database from here on.
    Database {
        session: &'a [u8],
        name: &'a [u8],
    },
    Closed {
        session: &'a [u8],
        at_us: i64,
    },
    /// The begin of a log file of a server, which it describes. A server writes it at its start, and when it opens its log
    /// anew.
    Server {
        description: &'a [u8],
    },
    /// A command that executes no statement, such as `Prepare`.
    Command(&'a str),
    /// An entry that is not about statements.
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
    /// Values that were sent apart from the text; none is NULL.
    pub bound: &'a [Option<Vec<u8>>],
    pub user: Option<&'a [u8]>,
    /// None if the log does not say it here.
    pub database: Option<&'a [u8]>,
    pub latency_us: Option<u64>,
    pub rows_sent: Option<u64>,
    pub rows_examined: Option<u64>,
    pub rows_affected: Option<u64>,
    /// MySQL's number of the error, or PostgreSQL's SQLSTATE; none if it succeeded or the log does not say it.
    pub error: Option<&'a [u8]>,
}

/// What is wrong with a part of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trouble {
    /// The log ends, or another entry begins, within an entry.
    Cut,
    /// A statement or a line is longer than what is kept.
    TooLong,
    /// A line belongs to no entry.
    NotRecognised,
    /// An entry does not say when it was.
    NoTime,
    /// An entry does not say of which session it is.
    NoSession,
    /// The packed log cannot be unpacked from here on.
    Damaged,
    /// The statement's last string, name or comment has no end. It was imported.
    Unclosed,
    /// The statement's names are not UTF-8. It was imported with replacement characters in them.
    NotUtf8,
    /// The clock is a second or more before that of the entry before.
    ClockBack,
    /// Times have no zone that is known, and were taken as UTC.
    NoZone,
    /// The server started, or opened its log anew. Sessions end here.
    Restarted,
    /// The log goes on as that of another server.
    OtherServer,
    /// A session goes on with another user. It was imported as a new session.
    OtherUser,
}

impl Trouble {
    pub const ALL: [Self; 13] = [
        Self::Cut,
        Self::TooLong,
        Self::NotRecognised,
        Self::NoTime,
        Self::NoSession,
        Self::Damaged,
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
            Self::Unclosed => "unclosed",
            Self::NotUtf8 => "not_utf8",
            Self::ClockBack => "clock_back",
            Self::NoZone => "no_zone",
            Self::Restarted => "restarted",
            Self::OtherServer => "other_server",
            Self::OtherUser => "other_user",
        }
    }

    /// The trouble of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|trouble| trouble.name() == name)
    }

    /// Whether a statement may be missing because of it.
    pub fn loses(self) -> bool {
        matches!(
            self,
            Self::Cut | Self::TooLong | Self::NotRecognised | Self::NoTime | Self::NoSession | Self::Damaged
        )
    }
}

//! Parses logs of servers, line by line, into events that are the same for all formats.

mod detect;
mod event;
mod format;
mod moment;
mod mysql;
mod postgres;
mod reader;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use self::detect::detect;
pub use self::event::{Event, Statement, Trouble};
pub use self::format::LogFormat;
pub(crate) use self::mysql::{with_literals, write_string};
pub(crate) use self::reader::{Reader, See};

impl LogFormat {
    /// A reader of a log in this format, from the start of the log. `None` for captures, which have no lines.
    pub(crate) fn reader(self) -> Option<Box<dyn Reader>> {
        let reader: Box<dyn Reader> = match self {
            Self::Slow => Box::<mysql::Slow>::default(),
            Self::General => Box::<mysql::General>::default(),
            Self::Proxysql => Box::<mysql::Proxysql>::default(),
            Self::Csvlog => Box::<postgres::Csvlog>::default(),
            Self::Jsonlog => Box::<postgres::Jsonlog>::default(),
            Self::Stderr => Box::<postgres::Stderr>::default(),
            Self::PcapMysql | Self::PcapPostgresql => return None,
        };
        Some(reader)
    }
}

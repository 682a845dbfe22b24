//! A client that records what it sends.

use std::path::Path;
use std::time::Duration;

use dyno_client::{Account, Connection, Dialect, Login, ServerAddress};
use dyno_engine::{Access, DATABASE};
use dyno_wire::{Event, Value};

const PATIENCE: Duration = Duration::from_secs(60);

/// A session of a server.
pub(crate) struct Client {
    connection: Connection,
    /// The statements that were sent, in order. The log must contain all of them.
    pub(crate) sent: Vec<Sent>,
}

/// A statement that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) text: String,
    /// The values that were sent separately from the text.
    pub(crate) bound: Option<String>,
    pub(crate) is_refused: bool,
}

impl Client {
    pub(crate) fn new(access: &Access, dialect: Dialect) -> Self {
        Self::at(&access.socket, access, dialect)
    }

    /// Opens a session through the given socket.
    pub(crate) fn at(socket: &Path, access: &Access, dialect: Dialect) -> Self {
        let login = Login {
            user: access.user.clone(),
            password: access.password.clone(),
            database: DATABASE.to_owned(),
            ..Login::default()
        };
        let address = ServerAddress::unix(socket).unwrap();
        let account = Account::new(dialect, login);
        let connection = Connection::open(&account, &address, Some(PATIENCE), Some(PATIENCE)).unwrap();
        Self { connection, sent: Vec::new() }
    }

    /// Sends a statement that the server executes.
    pub(crate) fn query(&mut self, text: &str) {
        self.send(text, false);
    }

    /// Sends a statement that the server refuses.
    pub(crate) fn refused(&mut self, text: &str) {
        self.send(text, true);
    }

    fn send(&mut self, text: &str, is_refused: bool) {
        self.connection.protocol().query(text.as_bytes());
        let event = self.connection.exchange().unwrap();
        assert_eq!(matches!(event, Event::Failed(_)), is_refused, "{text}: {event:?}");
        self.sent.push(Sent { text: text.to_owned(), bound: None, is_refused });
    }

    /// Prepares a statement and executes it with a number. `logged` is the text that the log must contain.
    pub(crate) fn execute(&mut self, text: &str, number: i64, logged: &str, bound: Option<&str>) {
        self.connection.protocol().prepare(text.as_bytes());
        let Event::Prepared(statement) = self.connection.exchange().unwrap() else { panic!("{text}") };
        self.connection.protocol().execute(statement, &[Value::Int(number)]);
        let event = self.connection.exchange().unwrap();
        assert!(matches!(event, Event::Done(_)), "{text}: {event:?}");
        self.sent.push(Sent { text: logged.to_owned(), bound: bound.map(str::to_owned), is_refused: false });
    }

    /// Disconnects, and returns the statements that were sent.
    pub(crate) fn quit(mut self) -> Vec<Sent> {
        self.connection.protocol().quit();
        self.connection.send().unwrap();
        self.sent
    }
}

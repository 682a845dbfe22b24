//! SQLite as a system that can be crashed: each client is a process that can be killed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::clients::session::{Field, PATIENCE, Session, SessionError, first_column};
use crate::error::CrashError;
use crate::options::CrashedSystem;
use crate::subjects::subject::Subject;

const FILE: &str = "crash.sqlite";
const OK: &str = "ok";
/// Pragmas whose values decide whether a commit survives a crash.
const TELLING: [&str; 3] = ["journal_mode", "synchronous", "page_size"];

pub(crate) struct SqliteSubject {
    file: PathBuf,
    program: PathBuf,
    pragmas: Vec<String>,
    children: Mutex<Vec<Child>>,
}

impl SqliteSubject {
    /// Creates a database in a folder.
    pub(crate) fn start(system: &CrashedSystem, folder: &Path) -> Result<Self, CrashError> {
        let file = folder.join(FILE);
        // The page size must be set before the journal mode, which writes to the file.
        let (first, rest): (Vec<_>, Vec<_>) =
            system.settings.iter().partition(|(name, _)| *name == "page_size");
        let pragma = |(name, value): (&String, &String)| format!("PRAGMA {name} = {value}");
        let pragmas = first.into_iter().chain(rest).map(pragma).collect();
        let program = system.sqlite_program.clone();
        let subject = Self { file, program, pragmas, children: Mutex::new(Vec::new()) };
        subject.open().map_err(CrashError::Tables)?;
        Ok(subject)
    }

    fn open(&self) -> Result<LocalSession, SessionError> {
        let mut session = LocalSession(open(&self.file).map_err(|error| refused(&error))?);
        self.pragmas.iter().try_for_each(|pragma| session.rows(pragma, &mut |_| ()))?;
        Ok(session)
    }

    fn children(&self) -> MutexGuard<'_, Vec<Child>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subject for SqliteSubject {
    fn version(&self) -> String {
        rusqlite::version().to_owned()
    }

    fn variables(&self) -> Result<BTreeMap<String, String>, CrashError> {
        let mut session = self.open().map_err(CrashError::Tables)?;
        let mut value = |name: &str| {
            let values = first_column(&mut session, &format!("PRAGMA {name}")).map_err(CrashError::Tables)?;
            Ok((name.to_owned(), values.concat()))
        };
        TELLING.into_iter().map(&mut value).collect()
    }

    /// Does nothing. SQLite keeps no unwritten data of its own: when a statement ends, all data has been passed to
    /// the operating system.
    fn settle(&mut self) -> Result<(), CrashError> {
        Ok(())
    }

    fn client(&self) -> Result<Box<dyn Session>, SessionError> {
        let mut child = Command::new(&self.program)
            .arg("crash-client")
            .arg(&self.file)
            // ^C at the terminal is meant for Dyno only.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| SessionError::Gone(format!("cannot run {}: {error}", self.program.display())))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        self.children().push(child);
        let (requests, answers) =
            pipes.ok_or_else(|| SessionError::Gone("a client has no pipes".to_owned()))?;
        let mut session = RemoteSession { requests, answers: BufReader::new(answers) };
        self.pragmas.iter().try_for_each(|pragma| session.execute(pragma))?;
        Ok(Box::new(session))
    }

    fn session(&self) -> Result<Box<dyn Session>, SessionError> {
        Ok(Box::new(self.open()?))
    }

    fn crash(&self, killed: &mut dyn FnMut()) {
        let mut children = self.children();
        for child in children.iter_mut() {
            // An error is ignored, because it means that the process has already ended.
            let _ = child.kill();
        }
        killed();
        for mut child in children.drain(..) {
            let _ = child.wait();
        }
    }

    fn recover(&mut self) -> Result<(), CrashError> {
        Ok(())
    }

    fn faults(&self, session: &mut dyn Session) -> Result<Vec<String>, SessionError> {
        let said = first_column(session, "PRAGMA integrity_check")?;
        let faults = said.into_iter().filter(|line| line != "ok");
        Ok(faults.map(|line| format!("integrity_check: {line}")).collect())
    }

    fn log_tail(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Drop for SqliteSubject {
    fn drop(&mut self) {
        self.crash(&mut || ());
    }
}

/// A session with a client process. Each statement is one line, and each answer is one line.
struct RemoteSession {
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Session for RemoteSession {
    fn execute(&mut self, sql: &str) -> Result<(), SessionError> {
        let gone = |error: io::Error| SessionError::Gone(error.to_string());
        self.requests.write_all(format!("{sql}\n").as_bytes()).map_err(gone)?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer).map_err(gone)?;
        match answer.strip_suffix('\n') {
            Some(OK) => Ok(()),
            Some(refusal) => Err(SessionError::Refused(refusal.to_owned())),
            // An answer without a line end is incomplete: the process was killed while it wrote the answer, or
            // before.
            None => Err(SessionError::Gone("the client has ended".to_owned())),
        }
    }

    fn rows(&mut self, sql: &str, _see: &mut dyn FnMut(&[Field])) -> Result<(), SessionError> {
        self.execute(sql)
    }
}

/// A session in this process.
struct LocalSession(Connection);

impl Session for LocalSession {
    fn execute(&mut self, sql: &str) -> Result<(), SessionError> {
        self.rows(sql, &mut |_| ())
    }

    fn rows(&mut self, sql: &str, see: &mut dyn FnMut(&[Field])) -> Result<(), SessionError> {
        visit(&self.0, sql, see).map_err(|error| refused(&error))
    }
}

fn refused(error: &rusqlite::Error) -> SessionError {
    SessionError::Refused(error.to_string())
}

fn open(file: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

fn visit(connection: &Connection, sql: &str, see: &mut dyn FnMut(&[Field])) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let field = |at| row.get_ref(at).map(field);
        let fields: Vec<Field> = (0..columns).map(field).collect::<Result<_, _>>()?;
        see(&fields);
    }
    Ok(())
}

fn field(value: ValueRef<'_>) -> Field {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string().into_bytes()),
        ValueRef::Real(number) => Some(number.to_string().into_bytes()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes.to_owned()),
    }
}

/// The work of a client process: executes statements on a database file, one per line, and answers each with
/// a line.
///
/// # Errors
/// The file cannot be opened, or the pipes fail.
pub fn serve_sqlite(file: &Path, input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    fs::metadata(file)?;
    let connection = open(file).map_err(io::Error::other)?;
    for line in input.lines() {
        // A transaction takes its write lock at the beginning. Otherwise two transactions could both begin as
        // readers, and one of them would fail when both want to write.
        let sql = match line?.as_str() {
            "BEGIN" => "BEGIN IMMEDIATE".to_owned(),
            sql => sql.to_owned(),
        };
        let answer = match visit(&connection, &sql, &mut |_| ()) {
            Ok(()) => OK.to_owned(),
            Err(error) => error.to_string().replace('\n', " "),
        };
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

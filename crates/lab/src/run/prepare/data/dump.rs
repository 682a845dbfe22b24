//! Opens a dump as text. The dump may be compressed, or in `pg_dump`'s custom format, which `pg_restore` converts.

use std::env;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

use dyno_engine::Installation;
use dyno_traffic::unpacked;

use crate::run::error::DataError;

/// The first bytes of `pg_dump`'s custom format.
const CUSTOM: &[u8] = b"PGDMP";
const RESTORE: &str = "pg_restore";
/// Number of bytes that are read at a time.
const CHUNK_BYTES: usize = 256 << 10;
/// Largest number of bytes of the program's messages that are kept.
const WORDS_BYTES_MAX: u64 = 16 << 10;

/// A dump that is read as text.
pub(super) struct Dump {
    text: Box<dyn BufRead>,
    program: Option<Program>,
}

/// A running program that writes the dump's text.
struct Program {
    path: PathBuf,
    child: Child,
    words: JoinHandle<Vec<u8>>,
}

/// Opens a dump. If `pg_restore` is needed, it comes from the server's package, or else from the host.
pub(super) fn open(path: &Path, installation: &Installation) -> Result<Dump, DataError> {
    let unreadable = |reason: String| DataError::Unreadable { path: path.display().to_string(), reason };
    let mut begin = Vec::new();
    let mut file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
    let looked = (&mut file).take(CUSTOM.len() as u64).read_to_end(&mut begin);
    looked.and_then(|_| file.seek(SeekFrom::Start(0))).map_err(|error| unreadable(error.to_string()))?;
    if begin != CUSTOM {
        let text = unpacked(path).map_err(|error| unreadable(error.to_string()))?;
        return Ok(Dump { text: Box::new(BufReader::with_capacity(CHUNK_BYTES, text)), program: None });
    }
    let Some((program, mut command)) = restore(installation) else {
        return Err(unreadable(format!(
            "it has pg_dump's own format, and neither {} nor this host has {RESTORE}; install PostgreSQL's client \
             programs, or give a dump of pg_dump --format=plain",
            installation.entry
        )));
    };
    command
        .args(["--file", "-"])
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child =
        command.spawn().map_err(|error| unreadable(format!("cannot run {}: {error}", program.display())))?;
    let (Some(text), Some(words)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(unreadable(format!("{} has no output", program.display())));
    };
    let words = thread::spawn(move || words_of(words));
    Ok(Dump {
        text: Box::new(BufReader::with_capacity(CHUNK_BYTES, text)),
        program: Some(Program { path: program, child, words }),
    })
}

/// Finds `pg_restore`, which converts `pg_dump`'s own formats to text.
fn restore(installation: &Installation) -> Option<(PathBuf, Command)> {
    if let Some(own) = installation.tool(RESTORE) {
        return Some(own);
    }
    let path = env::var_os("PATH")?;
    let found = env::split_paths(&path).map(|folder| folder.join(RESTORE)).find(|path| path.is_file())?;
    Some((found.clone(), Command::new(found)))
}

fn words_of(mut pipe: impl Read) -> Vec<u8> {
    let mut words = Vec::new();
    // If a message cannot be read, the only effect is that an error's text lacks the message.
    let _ = (&mut pipe).take(WORDS_BYTES_MAX).read_to_end(&mut words);
    let _ = io::copy(&mut pipe, &mut io::sink());
    words
}

impl Dump {
    /// Ends the program that writes the dump, if there is one. Returns an error if the program failed, unless
    /// loading had failed before.
    pub(super) fn end(self, is_loaded: bool) -> Result<(), DataError> {
        let Some(Program { path, mut child, words }) = self.program else { return Ok(()) };
        drop(self.text);
        let status = child.wait();
        let words = words.join().unwrap_or_default();
        match status {
            Ok(status) if status.success() || !is_loaded => Ok(()),
            Ok(status) => Err(DataError::Unreadable {
                path: path.display().to_string(),
                reason: format!(
                    "failed ({status}): {}",
                    String::from_utf8_lossy(&words).trim().replace('\n', "; ")
                ),
            }),
            Err(error) => {
                Err(DataError::Unreadable { path: path.display().to_string(), reason: error.to_string() })
            }
        }
    }
}

impl Read for Dump {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.text.read(buffer)
    }
}

impl BufRead for Dump {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.text.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.text.consume(bytes);
    }
}

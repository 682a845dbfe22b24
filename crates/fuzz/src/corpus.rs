//! The inputs that fuzzing starts from: recorded answers of real servers, server addresses, plans, logs of servers,
//! and a results file like the one that a run writes.

use dyno_engine::Catalogue;
use dyno_traffic::LogFormat;

use crate::Target;
use crate::mutate::Random;
use crate::results::{CELLS, Cells, FILE, cells_case};
use crate::traffic::{DETECTED, head};
use crate::wire::{FRAMED, LOGGED_IN, MARIADB, PACKED, SPARED, ZSTD};

pub(crate) use crate::sample_run::results_file;

/// The inputs from which fuzzing makes the cases of one target.
pub struct Corpus {
    pub(crate) framing: Framing,
    pub(crate) seeds: Vec<Seed>,
    /// If set, this function makes each case from the case's number, and the seeds are not used.
    pub(crate) make: Option<fn(u64, &mut Random) -> Vec<u8>>,
}

/// An input in parts. Mutations change, move and copy parts.
#[derive(Clone, Debug)]
pub(crate) struct Seed {
    /// The first bytes of the input. They say how to read the rest.
    pub(crate) head: Vec<u8>,
    pub(crate) parts: Vec<Vec<u8>>,
}

/// How the parts of an input are put together.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Framing {
    /// The parts follow each other without separators.
    None,
    /// Each part has a length of three bytes before it. The length does not count the part's first
    /// `uncounted_bytes` bytes.
    Mysql { uncounted_bytes: usize },
    /// Each part is a byte and a body. Between them is a length of four bytes, which counts itself and the body.
    Pgsql,
}

/// A recorded conversation: the bytes that a server sent until the client was logged in, and the bytes that it sent
/// after that. `examples/capture.rs` makes the recordings.
struct Captured {
    login: &'static [u8],
    answers: &'static [u8],
}

macro_rules! captured {
    ($name:literal) => {
        Captured {
            login: include_bytes!(concat!("../corpus/", $name, ".login")),
            answers: include_bytes!(concat!("../corpus/", $name, ".answers")),
        }
    };
}

impl Seed {
    /// The bytes of the input.
    pub(crate) fn bytes(&self, framing: Framing) -> Vec<u8> {
        let mut bytes = self.head.clone();
        self.parts.iter().for_each(|part| framing.append(part, &mut bytes));
        bytes
    }
}

impl Framing {
    fn append(self, part: &[u8], bytes: &mut Vec<u8>) {
        match self {
            Self::None => {}
            Self::Mysql { uncounted_bytes } => {
                let length = part.len().saturating_sub(uncounted_bytes) as u32;
                bytes.extend_from_slice(&length.to_le_bytes()[..3]);
            }
            Self::Pgsql => {
                let (kind, body) = part.split_at(part.len().min(1));
                bytes.extend_from_slice(kind);
                bytes.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
                bytes.extend_from_slice(body);
                return;
            }
        }
        bytes.extend_from_slice(part);
    }

    /// Splits a server's answer into parts.
    fn split(self, mut said: &[u8]) -> Vec<Vec<u8>> {
        let mut parts = Vec::new();
        while let Some((part, rest)) = self.first(said) {
            parts.push(part);
            said = rest;
        }
        parts
    }

    fn first(self, said: &[u8]) -> Option<(Vec<u8>, &[u8])> {
        match self {
            Self::None => (!said.is_empty()).then(|| (said.to_vec(), &said[said.len()..])),
            Self::Mysql { uncounted_bytes } => {
                let (&[low, middle, high], rest) = said.split_first_chunk()?;
                let bytes = u32::from_le_bytes([low, middle, high, 0]) as usize + uncounted_bytes;
                rest.split_at_checked(bytes).map(|(part, rest)| (part.to_vec(), rest))
            }
            Self::Pgsql => {
                let (kind, rest) = said.split_first()?;
                let (length, rest) = rest.split_first_chunk()?;
                let (body, rest) =
                    rest.split_at_checked((u32::from_be_bytes(*length) as usize).checked_sub(4)?)?;
                Some(([&[*kind], body].concat(), rest))
            }
        }
    }
}

impl Corpus {
    fn of_seeds(framing: Framing, seeds: Vec<Seed>) -> Self {
        Self { framing, seeds, make: None }
    }

    /// Returns the corpus of a target.
    pub fn of(target: Target) -> Self {
        match target {
            Target::Mysql => mysql(),
            Target::MysqlCompressed => mysql_compressed(),
            Target::Pgsql => pgsql(),
            Target::Dsn => texts(dsns()),
            Target::Plan => texts(plans()),
            Target::Traffic => Self::of_seeds(Framing::None, logs()),
            Target::Results => results(),
            Target::Cells => Self { make: Some(cells_case), ..Self::of_seeds(Framing::None, Vec::new()) },
        }
    }
}

const PACKETS: Framing = Framing::Mysql { uncounted_bytes: 1 };
const FRAMES: Framing = Framing::Mysql { uncounted_bytes: 4 };

fn mysql_servers() -> [Captured; 3] {
    [captured!("mariadb-10.11"), captured!("mysql-5.6"), captured!("mysql-8.0")]
}

/// Makes seeds from recorded conversations. Each server gives one seed with the complete conversation, and three seeds
/// that begin after the login and have different flags.
fn conversations(servers: &[Captured], framing: Framing) -> Vec<Seed> {
    let seeds = servers.iter().flat_map(|Captured { login, answers }| {
        let (login, answers) = (framing.split(login), framing.split(answers));
        let whole = Seed { head: vec![0, 0], parts: [login, answers.clone()].concat() };
        let begun = |flags| Seed { head: vec![LOGGED_IN | flags, 0], parts: answers.clone() };
        [whole, begun(0), begun(SPARED), begun(SPARED | MARIADB)]
    });
    seeds.collect()
}

fn mysql() -> Corpus {
    Corpus::of_seeds(PACKETS, conversations(&mysql_servers(), PACKETS))
}

fn mysql_compressed() -> Corpus {
    let packed =
        |flags, captured: Captured| Seed { head: vec![flags, 0], parts: FRAMES.split(captured.answers) };
    let mut seeds = vec![
        packed(0, captured!("mariadb-10.11-zlib")),
        packed(PACKED, captured!("mariadb-10.11-zlib")),
        packed(ZSTD, captured!("mysql-8.0-zstd")),
        packed(ZSTD | PACKED, captured!("mysql-8.0-zstd")),
    ];
    // These seeds are packets without frames, which the target puts into frames. All packets of a seed form a single
    // part, so that mutations also change the packets' lengths.
    for captured in mysql_servers() {
        seeds.push(Seed { head: vec![FRAMED, 200], parts: vec![captured.answers.to_vec()] });
    }
    Corpus::of_seeds(FRAMES, seeds)
}

fn pgsql() -> Corpus {
    let servers = [captured!("postgres-18")];
    Corpus::of_seeds(Framing::Pgsql, conversations(&servers, Framing::Pgsql))
}

fn texts(texts: Vec<String>) -> Corpus {
    // The parts are lines or pieces of lines, so that mutations move and duplicate them too.
    let seed = |text: String| Seed {
        head: Vec::new(),
        parts: text
            .split_inclusive(['\n', '@', '/', '?', '&'])
            .map(|line| line.as_bytes().to_vec())
            .collect(),
    };
    Corpus::of_seeds(Framing::None, texts.into_iter().map(seed).collect())
}

/// Number of lines in a piece of a log, enough for a few entries. Short inputs are read sooner, and a mutation
/// changes more of a short input.
const PIECE_LINES: usize = 12;

/// Returns pieces of logs. A part is a line. Each piece is read in the log's format and overlaps with the next
/// piece. The first piece of each log is also read in the format that is detected from its first lines.
fn logs() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for (format, log) in LOGS {
        let lines: Vec<Vec<u8>> = log.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        let piece = |head: u8, begin: usize| Seed {
            head: vec![head],
            parts: lines.iter().skip(begin).take(PIECE_LINES).cloned().collect(),
        };
        let begins = (0..lines.len()).step_by(PIECE_LINES / 2);
        seeds.extend(begins.map(|begin| piece(head(format), begin)));
        seeds.push(piece(DETECTED, 0));
    }
    seeds.extend(
        CAPTURES.iter().flat_map(|(format, file)| [head(*format), DETECTED].map(|head| packets(head, file))),
    );
    seeds
}

/// Logs that real servers wrote (see `crates/traffic/tests/servers`).
static LOGS: [(LogFormat, &[u8]); 5] = [
    (LogFormat::Slow, include_bytes!("../corpus/mariadb-10.11.slow.log")),
    (LogFormat::General, include_bytes!("../corpus/mysql-9.7.general.log")),
    (LogFormat::Csvlog, include_bytes!("../corpus/postgres-18.csv")),
    (LogFormat::Jsonlog, include_bytes!("../corpus/postgres-18.json")),
    (LogFormat::Stderr, include_bytes!("../corpus/postgres-18.log")),
];

/// Traffic of real servers that `tcpdump` captured. The files are in the pcap format with little-endian numbers.
static CAPTURES: [(LogFormat, &[u8]); 2] = [
    (LogFormat::PcapMysql, include_bytes!("../corpus/mariadb-10.11.pcap")),
    (LogFormat::PcapPostgresql, include_bytes!("../corpus/postgres-18.pcap")),
];

/// Splits a capture into parts, one for each packet. The file's header becomes a part of the input's head.
fn packets(head: u8, file: &[u8]) -> Seed {
    const HEADER_BYTES: usize = 24;
    const RECORD_BYTES: usize = 16;
    let (header, mut rest) = file.split_at(HEADER_BYTES);
    let mut parts = Vec::new();
    while let Some(length) = rest.get(8..12) {
        let length = length.iter().rev().fold(0, |length, byte| length << 8 | usize::from(*byte));
        let (record, behind) = rest.split_at(RECORD_BYTES + length);
        parts.push(record.to_vec());
        rest = behind;
    }
    Seed { head: [&[head], header].concat(), parts }
}

fn dsns() -> Vec<String> {
    [
        "mysql://me:a%40b@c@db.test:3307/bench",
        "mariadb://me@/b?socket=/run/m.sock",
        "mysql://me@%2Frun%2Fm.sock/b",
        "postgresql://[::1]:5432/bench?user=me&password=${SECRET}",
        "postgres:///b?host=/run/postgresql&port=5433&user=me&dbname=x",
        "mysql://me:${file:/etc/secret}@db.test/b",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn plans() -> Vec<String> {
    let whole = include_str!("../corpus/everything.toml").to_owned();
    let catalogue = Catalogue::builtin();
    let builtin = dyno_lab::builtin_plans().iter().map(|builtin| builtin.plan(&catalogue).text);
    builtin.chain([whole]).collect()
}

/// Makes the seeds for the reader of results files: one seed is a whole file, split into pages, and each of the others
/// is a change of a cell.
fn results() -> Corpus {
    let pages = results_file().chunks(4096).map(<[u8]>::to_vec).collect();
    let mut seeds = vec![Seed { head: vec![FILE], parts: pages }];
    // Cells are changed too, because most faults of the readers are caused by values that SQLite itself accepts.
    // Mutations of the file's bytes rarely make such values.
    let cells = Cells::of_sample();
    for column in 0..cells.columns() {
        seeds.push(Seed {
            head: vec![CELLS],
            parts: vec![cells.one(column, column, column % 2 == 0).to_vec()],
        });
    }
    Corpus::of_seeds(Framing::None, seeds)
}

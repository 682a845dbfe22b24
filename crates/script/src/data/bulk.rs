//! Statements of bulk inserts. They are built outside of Lua, because strings of half a megabyte would burden its
//! garbage collector.

/// Approximate largest size of a statement, in bytes. It is the same as in sysbench.
const STATEMENT_BYTES_MAX: usize = 512 * 1024;

/// The statements of all tasks, by number. Finished statements are reused.
#[derive(Debug, Default)]
pub(crate) struct Bulks {
    bulks: Vec<Bulk>,
    free: Vec<usize>,
}

/// A statement to which rows are added.
#[derive(Debug, Default)]
pub(crate) struct Bulk {
    pub(crate) text: Vec<u8>,
    /// Length of the text before the first row.
    head_bytes: usize,
    rows: u32,
    /// Whether the rows are lines of data that the statement reads. Otherwise, they are part of the statement's
    /// text.
    is_data: bool,
    /// Whether the text has been sent. The next row then starts a new statement.
    pub(crate) sent: bool,
}

impl Bulks {
    /// Begins a statement and returns its number. `is_data` says whether rows are lines of data that the statement
    /// reads.
    pub(crate) fn begin(&mut self, head: &[u8], is_data: bool) -> usize {
        let number = self.free.pop().unwrap_or_else(|| {
            self.bulks.push(Bulk::default());
            self.bulks.len() - 1
        });
        self.bulks[number].begin(head, is_data);
        number
    }

    /// Number of statements. All numbers below it are valid.
    pub(crate) fn len(&self) -> usize {
        self.bulks.len()
    }

    /// The statement with a number below [`len`](Self::len).
    pub(crate) fn at(&mut self, number: usize) -> &mut Bulk {
        &mut self.bulks[number]
    }

    pub(crate) fn end(&mut self, number: usize) {
        if number < self.bulks.len() && !self.free.contains(&number) {
            self.free.push(number);
        }
    }
}

impl Bulk {
    pub(crate) fn begin(&mut self, head: &[u8], is_data: bool) {
        self.text.clear();
        self.text.reserve(STATEMENT_BYTES_MAX);
        self.text.extend_from_slice(head);
        self.text.push(b' ');
        self.head_bytes = self.text.len();
        (self.rows, self.sent, self.is_data) = (0, false, is_data);
    }

    /// Adds a row. Returns false if the statement is full and must be sent first.
    pub(crate) fn add(&mut self, row: &[u8]) -> bool {
        if std::mem::take(&mut self.sent) {
            self.text.truncate(self.head_bytes);
            self.rows = 0;
        }
        if self.rows > 0 {
            if self.text.len() - self.head_bytes + row.len() > STATEMENT_BYTES_MAX {
                return false;
            }
            if !self.is_data {
                self.text.push(b',');
            }
        }
        self.text.extend_from_slice(row);
        self.rows += 1;
        true
    }

    /// Splits the text into the statement and the lines that it reads.
    pub(crate) fn statement_and_data(&self) -> (&[u8], &[u8]) {
        self.text.split_at(self.head_bytes)
    }

    pub(crate) fn waiting_rows(&self) -> u32 {
        if self.sent { 0 } else { self.rows }
    }
}

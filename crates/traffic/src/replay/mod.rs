//! The statements of a traffic file, in the form in which they are sent again.

mod bound;
mod commits;
mod example;
mod reach;

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

pub use self::commits::Commits;
pub use self::reach::NotSent;
use crate::error::TrafficError;
use crate::file::{StoredShape, TrafficFile};
use crate::sql::{Dialect, rebuilt, rebuilt_to_prepare};

/// Memory for shapes, in bytes. If they take more, all are forgotten, and read again when needed.
const SHAPE_BYTES_MAX: usize = 64 << 20;

/// A statement to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayStatement {
    pub id: i64,
    pub digest_id: i64,
    /// When the statement began, in µs since `began_at_us` of the traffic file.
    pub offset_us: i64,
    /// The database in which the statement was executed.
    pub database_id: Option<i64>,
    pub form: Form,
}

/// How a statement is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// As text.
    Text(Vec<u8>),
    /// As a prepared statement with its parameters as text. `None` stands for NULL. A question mark of the
    /// statement itself is doubled.
    Prepared { sql: Vec<u8>, params: Vec<Option<Vec<u8>>> },
    /// Not sent.
    Not(NotSent),
}

/// Reads the statements of sessions.
#[derive(Debug)]
pub struct StatementReader {
    file: TrafficFile,
    dialect: Dialect,
    /// Reasons against sending that are ignored: a statement is sent even if one of them applies to it.
    waived: Vec<NotSent>,
    shapes: HashMap<i64, Rc<Shape>>,
    shape_bytes: usize,
}

#[derive(Debug)]
struct Shape {
    digest_id: i64,
    text: String,
    not_sent: Option<NotSent>,
}

impl StatementReader {
    /// Opens a file for reading. Statements are sent even if one of the reasons in `waived` applies.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn new(file: TrafficFile, waived: Vec<NotSent>) -> Result<Self, TrafficError> {
        let dialect = file.dialect()?;
        Ok(Self { file, dialect, waived, shapes: HashMap::new(), shape_bytes: 0 })
    }

    /// Reads the next statements of a session, which follow the statement with id `after`, and updates `after`. At the
    /// end of the session, no statements are added.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn read(
        &mut self,
        session: i64,
        after: &mut i64,
        into: &mut VecDeque<ReplayStatement>,
    ) -> Result<(), TrafficError> {
        let mut stored = Vec::new();
        self.file.for_statements((session, *after), |it| stored.push(it))?;
        for it in stored {
            *after = it.id;
            let shape = self.shape(it.shape_id)?;
            into.push_back(ReplayStatement {
                id: it.id,
                digest_id: shape.digest_id,
                offset_us: it.offset_us,
                database_id: it.database_id,
                form: self.form(&shape, it.literals.as_deref(), it.bound.as_deref()),
            });
        }
        Ok(())
    }

    fn form(&self, shape: &Shape, literals: Option<&str>, bound: Option<&str>) -> Form {
        if let Some(why) = shape.not_sent {
            return Form::Not(why);
        }
        let form = match bound {
            None => rebuilt(&shape.text, literals, self.dialect).map(Form::Text),
            Some(bound) => rebuilt_to_prepare(&shape.text, literals, self.dialect)
                .zip(bound::values(bound))
                .map(|(sql, params)| Form::Prepared { sql, params }),
        };
        form.unwrap_or(Form::Not(NotSent::Redacted))
    }

    fn shape(&mut self, id: i64) -> Result<Rc<Shape>, TrafficError> {
        if let Some(known) = self.shapes.get(&id) {
            return Ok(Rc::clone(known));
        }
        let StoredShape { digest_id, text } = self.file.shape(id)?;
        self.shape_bytes += text.len();
        if self.shape_bytes > SHAPE_BYTES_MAX {
            self.shapes.clear();
            self.shape_bytes = text.len();
        }
        let not_sent = NotSent::of(text.as_bytes(), self.dialect).filter(|why| !self.waived.contains(why));
        let shape = Rc::new(Shape { digest_id, text, not_sent });
        self.shapes.insert(id, Rc::clone(&shape));
        Ok(shape)
    }
}

#[cfg(test)]
mod tests;

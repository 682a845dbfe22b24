//! The distinct transactions of the traffic, and how often each was executed.

use std::collections::HashMap;

use super::left_out::{LeftOut, LeftOuts, Role};
use crate::error::TrafficError;
use crate::file::{Execution, TrafficFile};
use crate::sql::Dialect;

/// Largest number of statements in a transaction of a mix.
const STATEMENTS_MAX: usize = 200;
/// Largest number of shapes that all distinct transactions have together.
const SHAPES_MAX: usize = 4_000_000;

/// A transaction, or a single statement outside of transactions.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    pub(super) statements: Vec<Execution>,
    /// Number of statements of the transaction that are not in `statements`, because the transaction is too long.
    beyond: u64,
}

/// A transaction that was chosen for a mix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    /// The shapes of the transaction's statements.
    pub(super) shapes: Vec<i64>,
    /// Number of transactions that have exactly these shapes.
    pub(super) own: u64,
    /// Number of transactions whose statements have the same digests as these shapes. The shapes of such transactions
    /// may differ in the lengths of lists.
    pub(super) weight: u64,
}

/// Counts transactions.
pub(super) struct Census<'f> {
    file: &'f TrafficFile,
    dialect: Dialect,
    roles: HashMap<i64, (i64, Role)>,
    counts: HashMap<Vec<i64>, u64>,
    shapes: usize,
    pub(super) left_out: LeftOuts,
    error: Option<TrafficError>,
}

/// Calls `each` with all transactions.
pub(super) fn for_transactions(
    file: &TrafficFile,
    with_values: bool,
    mut each: impl FnMut(&Transaction),
) -> Result<(), TrafficError> {
    let mut open = Transaction::default();
    file.for_executions(with_values, |next| {
        let goes_on = open.statements.last().is_some_and(|last| {
            let is_same = (last.session_id, last.transaction_id) == (next.session_id, next.transaction_id);
            is_same && next.transaction_id.is_some()
        });
        if !goes_on && !open.statements.is_empty() {
            each(&open);
            open = Transaction::default();
        }
        if open.statements.len() < STATEMENTS_MAX {
            open.statements.push(next);
        } else {
            open.beyond += 1;
        }
    })?;
    if !open.statements.is_empty() {
        each(&open);
    }
    Ok(())
}

impl<'f> Census<'f> {
    /// Counts the transactions of a file.
    pub(super) fn of(file: &'f TrafficFile, dialect: Dialect) -> Result<Self, TrafficError> {
        let mut census = Self {
            file,
            dialect,
            roles: HashMap::new(),
            counts: HashMap::new(),
            shapes: 0,
            left_out: LeftOuts::new(),
            error: None,
        };
        for_transactions(file, false, |transaction| census.count(transaction))?;
        census.error.take().map_or(Ok(census), Err)
    }

    fn count(&mut self, transaction: &Transaction) {
        if transaction.beyond > 0 {
            let statements = transaction.statements.len() as u64 + transaction.beyond;
            return self.leave_out(LeftOut::Long, statements);
        }
        let mut shapes = Vec::with_capacity(transaction.statements.len());
        for statement in &transaction.statements {
            match self.role(statement.shape_id).1 {
                Role::Left(why) => self.leave_out(why, 1),
                _ => shapes.push(statement.shape_id),
            }
        }
        let length = shapes.len();
        if length == 0 {
            return;
        }
        if let Some(count) = self.counts.get_mut(&shapes) {
            *count += 1;
        } else if self.shapes + length <= SHAPES_MAX {
            self.shapes += length;
            self.counts.insert(shapes, 1);
        } else {
            self.leave_out(LeftOut::Rare, length as u64);
        }
    }

    fn leave_out(&mut self, why: LeftOut, statements: u64) {
        *self.left_out.entry(why).or_default() += statements;
    }

    /// The digest of a shape, and the role of its statements in a mix.
    pub(super) fn role(&mut self, shape: i64) -> (i64, Role) {
        if let Some(known) = self.roles.get(&shape) {
            return *known;
        }
        let role = match self.file.shape(shape) {
            Ok(stored) => (stored.digest_id, Role::of(&stored.text, self.dialect)),
            Err(error) => {
                self.error.get_or_insert(error);
                (0, Role::Left(LeftOut::Incomplete))
            }
        };
        self.roles.insert(shape, role);
        role
    }

    /// Returns the shapes of those statements of a transaction that a mix can contain.
    pub(super) fn key(&mut self, transaction: &Transaction) -> Vec<i64> {
        let shapes = transaction.statements.iter().map(|statement| statement.shape_id);
        shapes.filter(|shape| !matches!(self.role(*shape).1, Role::Left(_))).collect()
    }

    /// Chooses the most frequent transactions, at most `most` of them. Transactions with the same digests are counted
    /// together, as one transaction.
    pub(super) fn choose(&mut self, most: usize) -> Vec<Chosen> {
        let mut by_digests: HashMap<Vec<i64>, Chosen> = HashMap::new();
        let counts: Vec<(Vec<i64>, u64)> = self.counts.drain().collect();
        for (shapes, count) in counts {
            let digests = shapes.iter().map(|shape| self.role(*shape).0).collect();
            let chosen = by_digests.entry(digests).or_insert_with(|| Chosen {
                shapes: shapes.clone(),
                own: 0,
                weight: 0,
            });
            chosen.weight += count;
            if (count, &chosen.shapes) > (chosen.own, &shapes) {
                (chosen.shapes, chosen.own) = (shapes, count);
            }
        }
        let mut all: Vec<Chosen> = by_digests.into_values().collect();
        all.sort_by(|a, b| b.weight.cmp(&a.weight).then_with(|| a.shapes.cmp(&b.shapes)));
        for rare in all.drain(most.min(all.len())..) {
            self.leave_out(LeftOut::Rare, rare.weight * rare.shapes.len() as u64);
        }
        all
    }
}

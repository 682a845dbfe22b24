//! The values of the chosen transactions.

use std::collections::HashMap;

use super::census::{Census, Chosen, Transaction, for_transactions};
use super::draw::draws;
use super::left_out::{LeftOut, Role};
use super::seen::{Seen, values};
use super::template::{Piece, pieces, places};
use super::{Sent, Unit};
use crate::error::TrafficError;
use crate::file::{Execution, TrafficFile};
use crate::sql::Dialect;

/// Largest number of executions of a chosen transaction whose values are read.
const ROWS_MAX: u64 = 1000;
/// Largest number of values that are read for a chosen transaction.
const VALUES_MAX: u64 = 40_000;
/// Largest number of values in a transaction of a mix.
const PLACES_MAX: usize = 2000;

/// A chosen transaction with some of its values.
struct Sampled {
    chosen: Chosen,
    statements: Vec<Vec<Piece>>,
    roles: Vec<Role>,
    /// For each value, whether it belongs to a parameter.
    is_bound: Vec<bool>,
    /// Number of executions whose values are read. They are spread evenly over the traffic.
    wanted: u64,
    met: u64,
    rows: Vec<Vec<Seen>>,
}

/// The units of a mix. Transactions without known values are left out.
pub(super) fn units(
    file: &TrafficFile,
    dialect: Dialect,
    census: &mut Census<'_>,
    most: usize,
) -> Result<Vec<Unit>, TrafficError> {
    let mut all = Vec::new();
    for chosen in census.choose(most) {
        all.push(Sampled::new(file, dialect, census, chosen)?);
    }
    let numbers: HashMap<Vec<i64>, usize> =
        all.iter().enumerate().map(|(number, it)| (it.chosen.shapes.clone(), number)).collect();
    for_transactions(file, true, |transaction| {
        if let Some(number) = numbers.get(&census.key(transaction)) {
            all[*number].meet(transaction, dialect, census);
        }
    })?;
    let mut units = Vec::with_capacity(all.len());
    for sampled in all {
        match sampled.unit() {
            Ok(unit) => units.push(unit),
            Err((why, statements)) => *census.left_out.entry(why).or_default() += statements,
        }
    }
    Ok(units)
}

impl Sampled {
    fn new(
        file: &TrafficFile,
        dialect: Dialect,
        census: &mut Census<'_>,
        chosen: Chosen,
    ) -> Result<Self, TrafficError> {
        let (mut statements, mut roles, mut is_bound) = (Vec::new(), Vec::new(), Vec::new());
        for shape in &chosen.shapes {
            let parts = pieces(&file.shape(*shape)?.text, dialect);
            let (literals, bound) = places(&parts);
            is_bound.resize(is_bound.len() + literals, false);
            is_bound.resize(is_bound.len() + bound, true);
            statements.push(parts);
            roles.push(census.role(*shape).1);
        }
        let wanted = chosen.own.min(ROWS_MAX).min(VALUES_MAX / (is_bound.len() as u64).max(1)).max(1);
        Ok(Self { chosen, statements, roles, is_bound, wanted, met: 0, rows: Vec::new() })
    }

    fn meet(&mut self, transaction: &Transaction, dialect: Dialect, census: &mut Census<'_>) {
        let number =
            |met: u64| u128::from(met) * u128::from(self.wanted) / u128::from(self.chosen.own.max(1));
        let is_wanted = number(self.met) != number(self.met + 1);
        self.met += 1;
        if is_wanted && self.is_bound.len() <= PLACES_MAX {
            let kept = transaction
                .statements
                .iter()
                .filter(|it| !matches!(census.role(it.shape_id).1, Role::Left(_)));
            self.rows.extend(row(kept, &self.statements, dialect));
        }
    }

    /// Makes the unit. If there is none, the error has the reason and the number of statements that are left out.
    fn unit(self) -> Result<Unit, (LeftOut, u64)> {
        let statements = self.chosen.weight * self.statements.len() as u64;
        if self.is_bound.len() > PLACES_MAX {
            return Err((LeftOut::Long, statements));
        }
        if self.rows.is_empty() {
            return Err((LeftOut::Incomplete, statements));
        }
        let draws = draws(&self.rows, &self.is_bound);
        let mut sent = Vec::with_capacity(self.statements.len() + 2);
        let is_transaction = self.roles.len() > 1 || self.roles.iter().any(|role| *role != Role::Send);
        if is_transaction && self.roles.first() != Some(&Role::Begin) {
            sent.push(Sent::words("BEGIN"));
        }
        let mut first = 0;
        for pieces in self.statements {
            let (literals, bound) = places(&pieces);
            sent.push(Sent { pieces, first });
            first += literals + bound;
        }
        if is_transaction && self.roles.last() != Some(&Role::End) {
            sent.push(Sent::words("COMMIT"));
        }
        Ok(Unit {
            weight: self.chosen.weight,
            statements: self.roles.len(),
            sent,
            draws,
            is_bound: self.is_bound,
        })
    }
}

/// The values of a transaction's statements. The values of a statement are first its literals, then its parameters.
fn row<'e>(
    executions: impl Iterator<Item = &'e Execution>,
    statements: &[Vec<Piece>],
    dialect: Dialect,
) -> Option<Vec<Seen>> {
    let mut row = Vec::new();
    for (execution, pieces) in executions.zip(statements) {
        let (literals, bound) = places(pieces);
        row.extend(values(execution.literals.as_deref(), literals, dialect, false)?);
        // A statement may have been sent with more parameters than it uses.
        let kept = values_of_parameters(execution.bound.as_deref(), bound, dialect)?;
        row.extend(kept);
    }
    Some(row)
}

fn values_of_parameters(bound: Option<&str>, places: usize, dialect: Dialect) -> Option<Vec<Seen>> {
    if places == 0 { Some(Vec::new()) } else { values(bound, places, dialect, true) }
}

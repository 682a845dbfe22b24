//! Parses tokens into a claim.

use super::error::{ClaimError, Problem};
use super::measure::Measure;
use super::token::{Kind, Token, tokens};
use crate::trial::quantity::Quantity;

/// A parsed claim: sides with relations between them (`a < b` or `a < b < c`).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sentence {
    pub(super) sides: Vec<Expression>,
    pub(super) relations: Vec<Relation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Less,
    Greater,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Number(f64),
    Call(Call),
    Binary { operator: Operator, left: Box<Expression>, right: Box<Expression> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    pub(super) function: Function,
    pub(super) column: usize,
    /// One system for a value, or the dividend and the divisor of a ratio.
    pub(super) systems: Vec<Name>,
    pub(super) measure: Measure,
    /// A step. For a geometric mean, a step or a group of steps.
    pub(super) step: Option<Name>,
    pub(super) clients: Option<u32>,
    /// A number of joined background clients, which selects a part of the test; `None` for the whole test.
    pub(super) joined: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Ratio,
    Value,
    GeometricMean,
}

impl Function {
    pub(super) const ALL: [(&'static str, Self); 3] =
        [("ratio", Self::Ratio), ("value", Self::Value), ("geomean", Self::GeometricMean)];

    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) column: usize,
}

impl Expression {
    /// All calls in the expression, from left to right. Each call is a measured figure.
    pub(super) fn calls(&self) -> Vec<&Call> {
        match self {
            Self::Number(_) => Vec::new(),
            Self::Call(call) => vec![call],
            Self::Binary { left, right, .. } => [left.calls(), right.calls()].concat(),
        }
    }
}

/// Parses a claim's text.
pub(super) fn parse(text: &str) -> Result<Sentence, ClaimError> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
    let mut sides = vec![parser.sum()?];
    let mut relations = Vec::new();
    while let Some(relation) = parser.relation() {
        relations.push(relation);
        sides.push(parser.sum()?);
    }
    if relations.is_empty() {
        return Err(parser.expected("<, <=, > or >="));
    }
    if parser.peek().kind != Kind::End {
        return Err(parser.expected("an operator, or the end"));
    }
    if sides.iter().all(|side| side.calls().is_empty()) {
        return Err(Problem::NoMeasurement.at(1));
    }
    Ok(Sentence { sides, relations })
}

/// Largest depth of nested parentheses. It prevents a stack overflow.
const DEPTH_MAX: usize = 50;

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        // The last token marks the end of the text. It is also returned for every later position.
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn expected(&self, expected: &'static str) -> ClaimError {
        let token = self.peek();
        Problem::Expected { expected, found: token.kind.describe() }.at(token.column)
    }

    fn takes(&mut self, mark: &str) -> bool {
        let is_it = matches!(self.peek().kind, Kind::Mark(found) if found == mark);
        self.at += usize::from(is_it);
        is_it
    }

    fn require(&mut self, mark: &'static str, expected: &'static str) -> Result<(), ClaimError> {
        if self.takes(mark) { Ok(()) } else { Err(self.expected(expected)) }
    }

    fn relation(&mut self) -> Option<Relation> {
        let marks = [
            ("<", Relation::Less),
            ("<=", Relation::Less),
            (">", Relation::Greater),
            (">=", Relation::Greater),
        ];
        marks.into_iter().find_map(|(mark, relation)| self.takes(mark).then_some(relation))
    }

    fn sum(&mut self) -> Result<Expression, ClaimError> {
        self.left_to_right(&[("+", Operator::Add), ("-", Operator::Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<Expression, ClaimError> {
        self.left_to_right(&[("*", Operator::Multiply), ("/", Operator::Divide)], Self::factor)
    }

    fn left_to_right(
        &mut self,
        operators: &[(&str, Operator)],
        operand: fn(&mut Self) -> Result<Expression, ClaimError>,
    ) -> Result<Expression, ClaimError> {
        let mut left = operand(self)?;
        while let Some(&(_, operator)) = operators.iter().find(|(mark, _)| self.takes(mark)) {
            let right = operand(self)?;
            left = Expression::Binary { operator, left: Box::new(left), right: Box::new(right) };
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expression, ClaimError> {
        if self.takes("(") {
            self.depth += 1;
            if self.depth > DEPTH_MAX {
                return Err(self.expected("fewer nested parentheses"));
            }
            let inside = self.sum()?;
            self.require(")", "a closing parenthesis")?;
            self.depth -= 1;
            return Ok(inside);
        }
        let token = self.peek().clone();
        match token.kind {
            Kind::Number(number) => {
                self.next();
                Ok(Expression::Number(number))
            }
            Kind::Name(name) => {
                self.next();
                let function =
                    Function::ALL.into_iter().find(|(known, _)| *known == name).ok_or_else(|| {
                        Problem::unknown("function", &name, Function::ALL.map(|(name, _)| name))
                            .at(token.column)
                    })?;
                self.call(function.1, token.column).map(Expression::Call)
            }
            Kind::Mark(_) | Kind::End => {
                Err(self.expected("a number, ratio, value, geomean or a parenthesis"))
            }
        }
    }

    /// Parses the arguments: one or two systems, a quantity, and optionally a step, a client count and a number of
    /// joined clients.
    fn call(&mut self, function: Function, column: usize) -> Result<Call, ClaimError> {
        self.require("(", "an opening parenthesis")?;
        let mut systems = vec![self.name("a system")?];
        self.require(",", "a comma")?;
        if function != Function::Value {
            systems.push(self.name("a system")?);
            self.require(",", "a comma")?;
        }
        let name = self.name("a quantity")?;
        let measure = Measure::from_name(&name.text).ok_or_else(|| {
            Problem::unknown("quantity", &name.text, Quantity::ALL.map(|(name, _)| name)).at(name.column)
        })?;
        let step = if self.takes(",") { Some(self.name("a step")?) } else { None };
        let clients = if self.takes(",") { Some(self.clients(1.0)?) } else { None };
        let joined = if self.takes(",") { Some(self.clients(0.0)?) } else { None };
        self.require(")", "a closing parenthesis")?;
        Ok(Call { function, column, systems, measure, step, clients, joined })
    }

    fn name(&mut self, expected: &'static str) -> Result<Name, ClaimError> {
        let token = self.peek().clone();
        match token.kind {
            Kind::Name(text) => {
                self.next();
                Ok(Name { text, column: token.column })
            }
            _ => Err(self.expected(expected)),
        }
    }

    fn clients(&mut self, least: f64) -> Result<u32, ClaimError> {
        match self.peek().kind {
            Kind::Number(number)
                if number >= least && number.fract() == 0.0 && number <= f64::from(u32::MAX) =>
            {
                self.next();
                Ok(number as u32)
            }
            _ => Err(self.expected("a number of clients")),
        }
    }
}

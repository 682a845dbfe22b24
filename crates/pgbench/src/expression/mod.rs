//! Expressions of `\set`, `\if` and `\elif`.

pub(crate) mod evaluate;
mod function;
mod hash;
mod lexer;
mod parser;
pub(crate) mod random;
pub(crate) mod value;

pub(crate) use function::Function;
pub(crate) use lexer::continuation_bytes;
pub(crate) use parser::parse;

use value::Value;

/// A checked expression: each function has a valid number of arguments.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    Constant(Value),
    /// The variable with this number.
    Variable(usize),
    Call(Function, Vec<Expression>),
}

/// Why an expression or a command cannot be read.
#[derive(Debug, PartialEq)]
pub(crate) struct Wrong {
    /// Position in the script, in bytes.
    pub(crate) at: usize,
    pub(crate) problem: crate::error::Problem,
}

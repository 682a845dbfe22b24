//! Reads an expression, by precedence climbing.

use super::function::Named;
use super::lexer::{Lexer, Token};
use super::value::Value;
use super::{Expression, Function, Wrong};
use crate::error::Problem;
use crate::names::Names;

/// Limits that prevent a script from exhausting a thread's stack. `SIZE_MAX` limits the number of operators, functions
/// and parentheses in an expression. `NESTING_MAX` limits how deeply expressions nest while they are read. `DEPTH_MAX`
/// limits how deeply functions nest when they are computed.
const SIZE_MAX: usize = 500;
const NESTING_MAX: usize = 40;
const DEPTH_MAX: usize = 100;

/// The precedence of operators, as in PostgreSQL. An operator with a higher number binds more strongly.
mod level {
    pub(super) const OR: u8 = 1;
    pub(super) const AND: u8 = 2;
    pub(super) const NOT: u8 = 3;
    pub(super) const IS: u8 = 4;
    pub(super) const COMPARISON: u8 = 5;
    pub(super) const BITS: u8 = 6;
    pub(super) const SUM: u8 = 7;
    pub(super) const PRODUCT: u8 = 8;
    pub(super) const SIGN: u8 = 9;
}

/// The operators with two operands. If the last field is true, the operands are swapped, because `a > b` is computed as
/// `b < a`.
const OPERATORS: [(&str, u8, Function, bool); 17] = [
    ("+", level::SUM, Function::Add, false),
    ("-", level::SUM, Function::Subtract, false),
    ("*", level::PRODUCT, Function::Multiply, false),
    ("/", level::PRODUCT, Function::Divide, false),
    ("%", level::PRODUCT, Function::Mod, false),
    ("<", level::COMPARISON, Function::Less, false),
    ("<=", level::COMPARISON, Function::LessOrEqual, false),
    (">", level::COMPARISON, Function::Less, true),
    (">=", level::COMPARISON, Function::LessOrEqual, true),
    ("=", level::COMPARISON, Function::Equal, false),
    ("<>", level::COMPARISON, Function::Different, false),
    ("!=", level::COMPARISON, Function::Different, false),
    ("&", level::BITS, Function::BitAnd, false),
    ("|", level::BITS, Function::BitOr, false),
    ("#", level::BITS, Function::BitXor, false),
    ("<<", level::BITS, Function::ShiftLeft, false),
    (">>", level::BITS, Function::ShiftRight, false),
];

/// Reads the expression at a position of a script, up to the end of its line. Also returns where the expression
/// ends.
pub(crate) fn parse(script: &str, at: usize, names: &mut Names) -> Result<(Expression, usize), Wrong> {
    let lexer = Lexer { script, at };
    let mut parser = Parser { lexer, token: Token::End, token_at: at, names, size: 0, nesting: 0 };
    parser.step()?;
    let expression = parser.expression(0)?;
    if depth(&expression) > DEPTH_MAX {
        return Err(Wrong { at, problem: Problem::TooComplex });
    }
    match parser.token {
        Token::End => Ok((expression, parser.token_at)),
        _ => Err(parser.unexpected("an operator or the end of the line")),
    }
}

/// How deeply functions nest.
fn depth(expression: &Expression) -> usize {
    match expression {
        Expression::Constant(_) | Expression::Variable(_) => 0,
        Expression::Call(_, arguments) => 1 + arguments.iter().map(depth).max().unwrap_or(0),
    }
}

struct Parser<'a, 'n> {
    lexer: Lexer<'a>,
    /// The current token, and its position.
    token: Token<'a>,
    token_at: usize,
    names: &'n mut Names,
    /// The number of operators, functions and parentheses that were read so far.
    size: usize,
    /// How many expressions contain the current token.
    nesting: usize,
}

impl Parser<'_, '_> {
    fn step(&mut self) -> Result<(), Wrong> {
        (self.token, self.token_at) = self.lexer.next()?;
        Ok(())
    }

    fn unexpected(&self, expected: &'static str) -> Wrong {
        let found = match self.token {
            Token::End => "the end of the line".to_owned(),
            Token::Sign(text) | Token::Word(text) => format!("'{text}'"),
            Token::Variable(name) => format!("':{name}'"),
            Token::Integer(number) => format!("'{number}'"),
            Token::Double(number) => format!("'{number}'"),
            Token::AboveIntegers => "a number above 9223372036854775807".to_owned(),
        };
        Wrong { at: self.token_at, problem: Problem::Syntax { found, expected } }
    }

    /// Whether the current token is this keyword.
    fn is_word(&self, word: &str) -> bool {
        matches!(self.token, Token::Word(text) if text.eq_ignore_ascii_case(word))
    }

    /// Skips this keyword if it is the current token.
    fn skip_word(&mut self, word: &str) -> Result<bool, Wrong> {
        let is_there = self.is_word(word);
        if is_there {
            self.step()?;
        }
        Ok(is_there)
    }

    fn expect_word(&mut self, word: &str, expected: &'static str) -> Result<(), Wrong> {
        if self.skip_word(word)? { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    fn expect_sign(&mut self, sign: &'static str, expected: &'static str) -> Result<(), Wrong> {
        if self.token != Token::Sign(sign) {
            return Err(self.unexpected(expected));
        }
        self.step()
    }

    /// Counts an operator, a function or a parenthesis.
    fn grow(&mut self) -> Result<(), Wrong> {
        self.size += 1;
        if self.size > SIZE_MAX {
            return Err(Wrong { at: self.token_at, problem: Problem::TooComplex });
        }
        Ok(())
    }

    /// Reads an expression whose operators have at least this precedence.
    fn expression(&mut self, least: u8) -> Result<Expression, Wrong> {
        self.nesting += 1;
        if self.nesting > NESTING_MAX {
            return Err(Wrong { at: self.token_at, problem: Problem::TooComplex });
        }
        let expression = self.operations(least);
        self.nesting -= 1;
        expression
    }

    fn operations(&mut self, least: u8) -> Result<Expression, Wrong> {
        let mut left = self.operand()?;
        // Comparisons and IS cannot be chained, so `1 < 2 < 3` is an error.
        let mut last_level = 0;
        loop {
            let at = self.token_at;
            let level = self.operator_level();
            if level <= least.saturating_sub(1) {
                return Ok(left);
            }
            if level == last_level && [level::IS, level::COMPARISON].contains(&level) {
                return Err(self.unexpected("AND, OR or the end of the line"));
            }
            self.grow().map_err(|wrong| Wrong { at, ..wrong })?;
            left = if level == level::IS { self.is(left)? } else { self.operation(left, level)? };
            last_level = level;
        }
    }

    /// The precedence of the current token as an operator; 0 if it is not an operator.
    fn operator_level(&self) -> u8 {
        match self.token {
            Token::Sign(_) => self.operator().map_or(0, |(_, level, ..)| level),
            Token::Word(_) if self.is_word("or") => level::OR,
            Token::Word(_) if self.is_word("and") => level::AND,
            Token::Word(_) if ["is", "isnull", "notnull"].iter().any(|word| self.is_word(word)) => level::IS,
            _ => 0,
        }
    }

    fn operator(&self) -> Option<(&'static str, u8, Function, bool)> {
        OPERATORS.into_iter().find(|(sign, ..)| self.token == Token::Sign(sign))
    }

    /// Reads an operator and its second operand.
    fn operation(&mut self, left: Expression, level: u8) -> Result<Expression, Wrong> {
        let (function, swaps) = match self.operator() {
            Some((_, _, function, swaps)) => (function, swaps),
            None if level == level::AND => (Function::And, false),
            None => (Function::Or, false),
        };
        self.step()?;
        let right = self.expression(level + 1)?;
        Ok(Expression::Call(function, if swaps { vec![right, left] } else { vec![left, right] }))
    }

    /// Reads `IS [NOT] NULL`, `IS [NOT] TRUE`, `IS [NOT] FALSE`, `ISNULL` or `NOTNULL`.
    fn is(&mut self, left: Expression) -> Result<Expression, Wrong> {
        let (negated, value) = if self.skip_word("isnull")? {
            (false, Value::Null)
        } else if self.skip_word("notnull")? {
            (true, Value::Null)
        } else {
            self.step()?;
            let negated = self.skip_word("not")?;
            let value = self.word_constant().ok_or_else(|| self.unexpected("NULL, TRUE or FALSE"))?;
            self.step()?;
            (negated, value)
        };
        let is = Expression::Call(Function::Is, vec![left, Expression::Constant(value)]);
        Ok(if negated { Expression::Call(Function::Not, vec![is]) } else { is })
    }

    /// The constant that the current word stands for: NULL, TRUE or FALSE.
    fn word_constant(&self) -> Option<Value> {
        [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))]
            .into_iter()
            .find_map(|(word, value)| self.is_word(word).then_some(value))
    }

    /// Reads an operand with the unary operators before it.
    fn operand(&mut self) -> Result<Expression, Wrong> {
        match self.token {
            Token::Sign("(") => {
                self.grow()?;
                self.step()?;
                let inner = self.expression(0)?;
                self.expect_sign(")", "an operator or ')'")?;
                Ok(inner)
            }
            Token::Sign("+") => {
                self.grow()?;
                self.step()?;
                self.expression(level::SIGN)
            }
            Token::Sign("-") => self.negative(),
            Token::Sign("~") => {
                self.grow()?;
                self.step()?;
                let operand = self.expression(level::BITS + 1)?;
                Ok(Expression::Call(Function::BitXor, vec![Expression::Constant(Value::Int(!0)), operand]))
            }
            Token::Integer(number) => self.constant(Value::Int(number)),
            Token::Double(number) => self.constant(Value::Double(number)),
            Token::Variable(name) => {
                let slot = self.names.slot(name);
                self.step()?;
                Ok(Expression::Variable(slot))
            }
            Token::Word(word) => self.word(word),
            _ => Err(self.unexpected("a value")),
        }
    }

    fn constant(&mut self, value: Value) -> Result<Expression, Wrong> {
        self.step()?;
        Ok(Expression::Constant(value))
    }

    /// Reads a negation. `-x` is computed as `0 - x`.
    fn negative(&mut self) -> Result<Expression, Wrong> {
        self.grow()?;
        self.step()?;
        if self.token == Token::AboveIntegers {
            return self.constant(Value::Int(i64::MIN));
        }
        let operand = self.expression(level::SIGN)?;
        Ok(Expression::Call(Function::Subtract, vec![Expression::Constant(Value::Int(0)), operand]))
    }

    /// Reads a constant, `NOT`, `CASE` or a function.
    fn word(&mut self, word: &str) -> Result<Expression, Wrong> {
        if let Some(value) = self.word_constant() {
            return self.constant(value);
        }
        self.grow()?;
        if self.skip_word("not")? {
            let operand = self.expression(level::NOT + 1)?;
            return Ok(Expression::Call(Function::Not, vec![operand]));
        }
        if self.skip_word("case")? {
            return self.case();
        }
        if ["when", "then", "else", "end", "and", "or", "is"].iter().any(|known| self.is_word(known)) {
            return Err(self.unexpected("a value"));
        }
        let at = self.token_at;
        let wrong = |problem| Wrong { at, problem };
        let named = Named::find(word).map_err(wrong)?;
        self.step()?;
        self.expect_sign("(", "'('")?;
        let mut arguments = self.arguments()?;
        if named.lacks_seed(arguments.len()) {
            arguments.push(Expression::Variable(self.names.slot("default_seed")));
        }
        named.check(arguments.len()).map_err(wrong)?;
        Ok(Expression::Call(named.function, arguments))
    }

    /// Reads the arguments after an opening parenthesis, up to the closing one.
    fn arguments(&mut self) -> Result<Vec<Expression>, Wrong> {
        let mut arguments = Vec::new();
        if self.token == Token::Sign(")") {
            self.step()?;
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expression(0)?);
            if self.token != Token::Sign(",") {
                self.expect_sign(")", "an operator, ',' or ')'")?;
                return Ok(arguments);
            }
            self.step()?;
        }
    }

    /// Reads `WHEN condition THEN result … [ELSE result] END`.
    fn case(&mut self) -> Result<Expression, Wrong> {
        let mut parts = Vec::new();
        self.expect_word("when", "WHEN")?;
        loop {
            parts.push(self.expression(0)?);
            self.expect_word("then", "an operator or THEN")?;
            parts.push(self.expression(0)?);
            self.grow()?;
            if !self.skip_word("when")? {
                break;
            }
        }
        let otherwise =
            if self.skip_word("else")? { self.expression(0)? } else { Expression::Constant(Value::Null) };
        self.expect_word("end", "an operator, WHEN, ELSE or END")?;
        parts.push(otherwise);
        Ok(Expression::Call(Function::Case, parts))
    }
}

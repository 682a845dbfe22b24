//! The functions and operators of expressions.

use crate::error::Problem;

/// An operator or a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Add,
    Subtract,
    Multiply,
    Divide,
    Mod,
    Equal,
    Different,
    Less,
    LessOrEqual,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    And,
    Or,
    Not,
    Is,
    /// The arguments are alternately conditions and results. If their number is odd, the last one is the result of the
    /// ELSE.
    Case,
    Abs,
    Debug,
    Double,
    Exp,
    Greatest,
    HashFnv1a,
    HashMurmur2,
    Int,
    Least,
    Ln,
    Permute,
    Pi,
    Power,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    Sqrt,
}

/// How many arguments a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arguments {
    Exactly(usize),
    /// One to 16 arguments.
    AtLeastOne,
    /// This many arguments, and an optional seed after them. Without the seed, `:default_seed` is used.
    AndSeed(usize),
}

use Arguments::{AndSeed, AtLeastOne, Exactly};

/// The largest number of arguments that a function may have, as in pgbench.
const ARGUMENTS_MAX: usize = 16;

/// The functions by the names that scripts give them.
const NAMED: [(&str, Function, Arguments); 21] = [
    ("abs", Function::Abs, Exactly(1)),
    ("debug", Function::Debug, Exactly(1)),
    ("double", Function::Double, Exactly(1)),
    ("exp", Function::Exp, Exactly(1)),
    ("greatest", Function::Greatest, AtLeastOne),
    ("hash", Function::HashMurmur2, AndSeed(1)),
    ("hash_fnv1a", Function::HashFnv1a, AndSeed(1)),
    ("hash_murmur2", Function::HashMurmur2, AndSeed(1)),
    ("int", Function::Int, Exactly(1)),
    ("least", Function::Least, AtLeastOne),
    ("ln", Function::Ln, Exactly(1)),
    ("mod", Function::Mod, Exactly(2)),
    ("permute", Function::Permute, AndSeed(2)),
    ("pi", Function::Pi, Exactly(0)),
    ("pow", Function::Power, Exactly(2)),
    ("power", Function::Power, Exactly(2)),
    ("random", Function::Random, Exactly(2)),
    ("random_exponential", Function::RandomExponential, Exactly(3)),
    ("random_gaussian", Function::RandomGaussian, Exactly(3)),
    ("random_zipfian", Function::RandomZipfian, Exactly(3)),
    ("sqrt", Function::Sqrt, Exactly(1)),
];

/// A function as a script names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    name: &'static str,
    pub(crate) function: Function,
    arguments: Arguments,
}

impl Named {
    /// Finds the function with this name, ignoring case.
    pub(crate) fn find(name: &str) -> Result<Self, Problem> {
        if let Some(&(name, function, arguments)) =
            NAMED.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name))
        {
            return Ok(Self { name, function, arguments });
        }
        let hint = crate::script::nearest(&name.to_lowercase(), NAMED.iter().map(|(known, ..)| *known));
        Err(Problem::UnknownFunction { name: name.to_owned(), hint })
    }

    /// Whether the optional seed is missing from a call with this many arguments.
    pub(crate) fn lacks_seed(self, given: usize) -> bool {
        self.arguments == AndSeed(given)
    }

    /// Returns an error if the number of arguments is wrong. The caller must already have added a missing seed.
    pub(crate) fn check(self, given: usize) -> Result<(), Problem> {
        let (fits, expected) = match self.arguments {
            Exactly(0) => (given == 0, "no argument"),
            Exactly(1) => (given == 1, "one argument"),
            Exactly(2) => (given == 2, "two arguments"),
            Exactly(count) => (given == count, "three arguments"),
            AtLeastOne => ((1..=ARGUMENTS_MAX).contains(&given), "1 to 16 arguments"),
            AndSeed(1) => (given == 2, "one argument, or a seed after it"),
            AndSeed(count) => (given == count + 1, "two arguments, or a seed after them"),
        };
        if fits {
            return Ok(());
        }
        Err(Problem::ArgumentCount { function: self.name, expected, given })
    }
}

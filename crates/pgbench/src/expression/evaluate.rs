//! Computes expressions.

use super::hash::{fnv1a, murmur2, permute};
use super::random::Range;
use super::value::{Value, double_text};
use super::{Expression, Function};
use crate::error::EvaluationError;
use crate::run::state::State;

/// The value of an expression.
pub(crate) fn evaluate(expression: &Expression, state: &mut State) -> Result<Value, EvaluationError> {
    match expression {
        Expression::Constant(value) => Ok(*value),
        Expression::Variable(slot) => state.value(*slot),
        Expression::Call(Function::And, operands) => both(operands, false, state),
        Expression::Call(Function::Or, operands) => both(operands, true, state),
        Expression::Call(Function::Case, parts) => case(parts, state),
        Expression::Call(function, arguments) => {
            let mut values = Vec::with_capacity(arguments.len());
            for argument in arguments {
                values.push(evaluate(argument, state)?);
            }
            // If an argument is NULL, the result is NULL, except for IS and debug.
            if values.contains(&Value::Null) && ![Function::Is, Function::Debug].contains(function) {
                return Ok(Value::Null);
            }
            call(*function, &values, state)
        }
    }
}

/// Computes AND (if `decisive` is false) or OR (if `decisive` is true). If the first operand is NULL or decides the
/// result, the second operand is not evaluated.
fn both(operands: &[Expression], decisive: bool, state: &mut State) -> Result<Value, EvaluationError> {
    for operand in operands {
        match evaluate(operand, state)? {
            Value::Null => return Ok(Value::Null),
            value if truth(value)? == decisive => return Ok(Value::Bool(decisive)),
            _ => {}
        }
    }
    Ok(Value::Bool(!decisive))
}

fn case(parts: &[Expression], state: &mut State) -> Result<Value, EvaluationError> {
    for pair in parts.chunks(2) {
        // Parts are pairs of a condition and a result. A last part without a partner is the ELSE, whose value is the
        // result if no condition is true.
        let [condition, result] = pair else { return evaluate(&pair[0], state) };
        if evaluate(condition, state)?.is_true() {
            return evaluate(result, state);
        }
    }
    Ok(Value::Null)
}

/// The value of a function. Arguments are not NULL, except for IS and debug.
fn call(function: Function, values: &[Value], state: &mut State) -> Result<Value, EvaluationError> {
    use Function as F;
    match (function, values) {
        (F::Add | F::Subtract | F::Multiply | F::Divide | F::Mod, &[left, right]) => {
            arithmetic(function, left, right)
        }
        (F::Equal | F::Different | F::Less | F::LessOrEqual, &[left, right]) => {
            comparison(function, left, right).map(Value::Bool)
        }
        (F::BitAnd, &[left, right]) => Ok(Value::Int(integer(left)? & integer(right)?)),
        (F::BitOr, &[left, right]) => Ok(Value::Int(integer(left)? | integer(right)?)),
        (F::BitXor, &[left, right]) => Ok(Value::Int(integer(left)? ^ integer(right)?)),
        // pgbench leaves the shift to the processor, which uses only the lowest six bits of the distance.
        (F::ShiftLeft, &[left, right]) => Ok(Value::Int(integer(left)?.wrapping_shl(integer(right)? as u32))),
        (F::ShiftRight, &[left, right]) => {
            Ok(Value::Int(integer(left)?.wrapping_shr(integer(right)? as u32)))
        }
        (F::Not, &[value]) => Ok(Value::Bool(!truth(value)?)),
        (F::Is, &[left, right]) => Ok(Value::Bool(left == right)),
        (F::Debug, &[value]) => {
            state.say(&described(value));
            Ok(value)
        }
        (F::Abs, &[Value::Int(number)]) => Ok(Value::Int(number.wrapping_abs())),
        (F::Abs, &[value]) => Ok(Value::Double(double(value)?.abs())),
        (F::Double, &[value]) => double(value).map(Value::Double),
        (F::Exp, &[value]) => Ok(Value::Double(double(value)?.exp())),
        (F::Ln, &[value]) => Ok(Value::Double(double(value)?.ln())),
        (F::Sqrt, &[value]) => Ok(Value::Double(double(value)?.sqrt())),
        (F::Int, &[value]) => integer(value).map(Value::Int),
        (F::Least | F::Greatest, values) => extreme(values, function == F::Greatest),
        (F::Pi, _) => Ok(Value::Double(std::f64::consts::PI)),
        (F::Power, &[base, exponent]) => Ok(Value::Double(double(base)?.powf(double(exponent)?))),
        (F::HashFnv1a, &[value, seed]) => Ok(Value::Int(fnv1a(integer(value)?, integer(seed)?))),
        (F::HashMurmur2, &[value, seed]) => Ok(Value::Int(murmur2(integer(value)?, integer(seed)?))),
        (F::Permute, &[value, size, seed]) => permuted(integer(value)?, integer(size)?, integer(seed)?),
        (_, &[low, high, ref parameter @ ..]) => {
            random(function, (low, high), parameter, state).map(Value::Int)
        }
        // Not reached, because the parser has checked the number of arguments.
        _ => Ok(Value::Null),
    }
}

fn permuted(value: i64, size: i64, seed: i64) -> Result<Value, EvaluationError> {
    if size <= 0 {
        return Err(EvaluationError::PermuteSize(size));
    }
    Ok(Value::Int(permute(value, size, seed)))
}

fn random(
    function: Function,
    (low, high): (Value, Value),
    parameter: &[Value],
    state: &mut State,
) -> Result<i64, EvaluationError> {
    let range = Range::new(integer(low)?, integer(high)?)?;
    let parameter = double(parameter.first().copied().unwrap_or(Value::Double(0.0)))?;
    match function {
        Function::RandomExponential => state.random.exponential(range, parameter),
        Function::RandomGaussian => state.random.gaussian(range, parameter),
        Function::RandomZipfian => state.random.zipfian(range, parameter),
        _ => Ok(state.random.uniform(range)),
    }
}

/// Computes with doubles if an operand is a double. Only the remainder is always computed with integers.
fn arithmetic(function: Function, left: Value, right: Value) -> Result<Value, EvaluationError> {
    let has_double = [left, right].iter().any(|value| matches!(value, Value::Double(_)));
    if has_double && function != Function::Mod {
        let (left, right) = (double(left)?, double(right)?);
        return Ok(Value::Double(match function {
            Function::Add => left + right,
            Function::Subtract => left - right,
            Function::Multiply => left * right,
            _ => left / right,
        }));
    }
    let (left, right) = (integer(left)?, integer(right)?);
    let (result, name) = match function {
        Function::Add => (left.checked_add(right), "an addition"),
        Function::Subtract => (left.checked_sub(right), "a subtraction"),
        Function::Multiply => (left.checked_mul(right), "a multiplication"),
        _ if right == 0 => return Err(EvaluationError::DivisionByZero),
        Function::Divide => (left.checked_div(right), "a division"),
        // The remainder of a division by -1 is 0, even where the quotient is too large.
        _ => (Some(left.wrapping_rem(right)), "a remainder"),
    };
    result.map(Value::Int).ok_or(EvaluationError::OutOfRange(name))
}

fn comparison(function: Function, left: Value, right: Value) -> Result<bool, EvaluationError> {
    fn compare<T: Copy + PartialOrd>(function: Function, left: T, right: T) -> bool {
        match function {
            Function::Equal => left == right,
            Function::Different => left != right,
            Function::Less => left < right,
            _ => left <= right,
        }
    }
    if [left, right].iter().any(|value| matches!(value, Value::Double(_))) {
        return Ok(compare(function, double(left)?, double(right)?));
    }
    Ok(compare(function, integer(left)?, integer(right)?))
}

/// The least or the greatest of the values. If one of the values is a double, the result is a double.
fn extreme(values: &[Value], greatest: bool) -> Result<Value, EvaluationError> {
    if values.iter().any(|value| matches!(value, Value::Double(_))) {
        return best(values, double, greatest).map(|best| best.map_or(Value::Null, Value::Double));
    }
    best(values, integer, greatest).map(|best| best.map_or(Value::Null, Value::Int))
}

fn best<T: Copy + PartialOrd>(
    values: &[Value],
    number_of: fn(Value) -> Result<T, EvaluationError>,
    greatest: bool,
) -> Result<Option<T>, EvaluationError> {
    let mut best: Option<T> = None;
    for &value in values {
        let number = number_of(value)?;
        if best.is_none_or(|best| if greatest { number > best } else { number < best }) {
            best = Some(number);
        }
    }
    Ok(best)
}

/// Converts a value to an integer. A double is rounded to the nearest integer. If two integers are equally near, the
/// even one is taken.
fn integer(value: Value) -> Result<i64, EvaluationError> {
    match value {
        Value::Int(number) => Ok(number),
        Value::Double(number) => {
            let rounded = number.round_ties_even();
            // 2^63 is too large for a 64-bit integer, but -2^63 is not too small.
            let bound = -(i64::MIN as f64);
            if (-bound..bound).contains(&rounded) {
                Ok(rounded as i64)
            } else {
                Err(EvaluationError::DoubleTooLarge(number))
            }
        }
        other => Err(EvaluationError::Coercion { from: other.type_name(), to: "an integer" }),
    }
}

fn double(value: Value) -> Result<f64, EvaluationError> {
    match value {
        Value::Double(number) => Ok(number),
        Value::Int(number) => Ok(number as f64),
        other => Err(EvaluationError::Coercion { from: other.type_name(), to: "a double" }),
    }
}

fn truth(value: Value) -> Result<bool, EvaluationError> {
    match value {
        Value::Bool(value) => Ok(value),
        other => Err(EvaluationError::Coercion { from: other.type_name(), to: "a truth value" }),
    }
}

/// A value with its type, as pgbench's `debug` writes it.
fn described(value: Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("boolean {value}"),
        Value::Int(value) => format!("int {value}"),
        Value::Double(value) => format!("double {}", double_text(value)),
    }
}

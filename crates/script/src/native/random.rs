//! Native functions for random numbers and texts.

use super::table::Table;
use crate::data::random::Shape;
use crate::lua::{Answer, Call, Returns};

/// The largest number of 32 bits.
const LARGEST: i64 = u32::MAX as i64;

pub(super) fn register(table: &Table) {
    table.add("default", |call| draw(call, None));
    table.add("uniform", |call| draw(call, Some(Shape::Uniform)));
    table.add("gaussian", |call| draw(call, Some(Shape::Gaussian)));
    table.add("special", |call| draw(call, Some(Shape::Special)));
    table.add("pareto", |call| draw(call, Some(Shape::Pareto)));
    table.add("zipfian", |call| draw(call, Some(Shape::Zipfian)));
    table.add("unique", |call| {
        let number = call.machine().unique.next();
        call.stack.push_number(f64::from(number));
        Ok(Returns::Values(1))
    });
    table.add("unique_between", unique_between);
    table.add("uniform_double", |call| {
        let unit = call.machine().generator.unit();
        call.stack.push_number(unit);
        Ok(Returns::Values(1))
    });
    table.add("uniform_words", |call| {
        let bits = call.machine().generator.next_u64();
        call.stack.push_number(f64::from((bits >> 32) as u32));
        call.stack.push_number(f64::from(bits as u32));
        Ok(Returns::Values(2))
    });
    table.add("string", string);
    table.add("varstring", varstring);
}

fn draw(call: &mut Call<'_>, shape: Option<Shape>) -> Answer {
    let (low, high) = (call.integer(1)?, call.integer(2)?);
    let number = if low.max(high) > LARGEST {
        draw_wrapped(call, shape, low, high)
    } else {
        call.machine().draw(shape, low, high)
    };
    call.stack.push_number(number as f64);
    Ok(Returns::Values(1))
}

/// Draws between two bounds of which at least one has more than 32 bits. sysbench's bounds are unsigned 32-bit numbers.
/// As in sysbench, only the lowest 32 bits of a bound are used. If `high` is then below `low`, the range continues at 0
/// after the largest 32-bit number.
fn draw_wrapped(call: &mut Call<'_>, shape: Option<Shape>, low: i64, high: i64) -> i64 {
    let low = low as u32;
    let span = (high as u32).wrapping_sub(low);
    let above = call.machine().draw(shape, 0, i64::from(span));
    i64::from(low.wrapping_add(above as u32))
}

/// `unique_between(low, high)`: returns a number that was not drawn from the range before. When all numbers have been
/// drawn, they repeat. If `high` has more than 32 bits, the range ends at the largest 32-bit number.
fn unique_between(call: &mut Call<'_>) -> Answer {
    let (low, high) = (call.integer(1)?, call.integer(2)?.min(LARGEST));
    let Some(last) = high.checked_sub(low).and_then(|last| u64::try_from(last).ok()) else {
        return Err(call.raise("a unique number from low to high needs low <= high"));
    };
    let number = call.machine().unique.next_below(last.saturating_add(1));
    call.stack.push_number((low + number as i64) as f64);
    Ok(Returns::Values(1))
}

/// `string(format)`: replaces each `#` by a digit and each `@` by a letter.
fn string(call: &mut Call<'_>) -> Answer {
    // SAFETY: the argument stays on the stack while this runs.
    let format = unsafe { call.bytes(1) }?;
    let mut text = std::mem::take(&mut call.machine().text);
    text.clear();
    let generator = &mut call.machine().generator;
    text.extend_from_slice(format);
    generator.fill(&mut text, b'#', b'0', b'9');
    if format.contains(&b'@') {
        generator.fill(&mut text, b'@', b'a', b'z');
    }
    Ok(give(call, text))
}

/// `varstring(min, max)`: returns `min` to `max` characters from `0` to `z`.
fn varstring(call: &mut Call<'_>) -> Answer {
    let (min, max) = (call.integer(1)?, call.integer(2)?);
    if min < 0 || max < min {
        return Err(call.raise("varstring(min, max) needs 0 <= min <= max"));
    }
    let mut text = std::mem::take(&mut call.machine().text);
    text.clear();
    let generator = &mut call.machine().generator;
    let len = generator.between(min, max);
    text.resize(len as usize, b'#');
    generator.fill(&mut text, b'#', b'0', b'z');
    Ok(give(call, text))
}

/// Returns a text to Lua and keeps its memory for the next one.
fn give(call: &mut Call<'_>, text: Vec<u8>) -> Returns {
    call.stack.push_bytes(&text);
    call.machine().text = text;
    Returns::Values(1)
}

//! The binary `dyno`: arguments in, one call out.
fn main() {}

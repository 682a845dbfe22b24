//! What a user types and reads: wrong usage, help, completions and manual pages.

mod help;
mod usage;

//! The host of a run: limits, other processes, and servers that are frozen between their slices.

mod confined;
mod disturbed;
mod doctor;
mod freeze;

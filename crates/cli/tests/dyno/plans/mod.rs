//! What plans can ask for: keys, events, ladders, sweeps, and searches for a capacity.

mod capacity;
mod keys;
mod ladders;
mod step_events;
mod steps;
mod sweeps;

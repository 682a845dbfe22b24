//! When events happen: their times and their order, and how stalls and lost connections affect them.

mod events;
mod joins;
mod paused_disk;
mod reconnects;
mod slices;
mod stalls;

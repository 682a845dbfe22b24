//! Real servers: which there are, where they come from, how they start and stop.

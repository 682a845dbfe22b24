//! Runs plans: which trials, in what order, on which systems, into the results file.

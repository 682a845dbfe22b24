//! Pure functions that judge measurements: estimates, exact intervals, tests.

//! Verdicts on the figures of replicas. All compared quantities of all systems except the reference are one family.

use dyno_store::Run;

use super::{LagQuantity, LagTest};
use crate::compare::rule::Rule;
use crate::effects::family::{self, Measured, Pair};

/// The position of a figure in the results: its quantity, and the indices of its test and system.
struct Place {
    test: usize,
    system: usize,
    quantity: LagQuantity,
}

/// Fills in the ratios to the reference, with their verdicts.
pub(super) fn judge(tests: &mut [LagTest], run: &Run, rule: &Rule) {
    for (at, ratio) in family::judge(measured(tests, run, rule), rule) {
        if let Some(figure) = tests[at.test].systems[at.system].figures.get_mut(&at.quantity) {
            figure.against_base = Some(ratio);
        }
    }
}

fn measured(tests: &[LagTest], run: &Run, rule: &Rule) -> Vec<Measured<Place>> {
    let mut found = Vec::new();
    for (test_at, test) in tests.iter().enumerate() {
        let base = test.reference.as_str();
        let Some(of_base) = test.systems.iter().find(|system| system.system == base) else { continue };
        for (system_at, system) in test.systems.iter().enumerate().filter(|(_, it)| it.system != base) {
            let pair = Pair { run, rule, system: &system.system, base };
            for (quantity, figure) in system.figures.iter().filter(|(quantity, _)| quantity.is_compared()) {
                let Some(base_figure) = of_base.figures.get(quantity) else { continue };
                let at = Place { test: test_at, system: system_at, quantity: *quantity };
                found.extend(pair.measure(at, &base_figure.rounds, &figure.rounds, quantity.resolution()));
            }
        }
    }
    found
}

//! Verdicts on the figures of events. All quantities of all events of all candidates are one family.

use dyno_store::Run;

use super::{EventQuantity, EventfulTest};
use crate::compare::rule::Rule;
use crate::effects::family::{self, Measured, Pair};

/// The position of a figure in the results: its quantity, and the indices of its test, system and event.
struct Place {
    test: usize,
    system: usize,
    event: usize,
    quantity: EventQuantity,
}

/// Fills in the ratios to the base, with their verdicts.
pub(super) fn judge(tests: &mut [EventfulTest], run: &Run, base: &str, rule: &Rule) {
    for (at, ratio) in family::judge(measured(tests, run, base, rule), rule) {
        let effect = &mut tests[at.test].systems[at.system].events[at.event];
        if let Some(figure) = effect.figures.get_mut(&at.quantity) {
            figure.against_base = Some(ratio);
        }
    }
}

fn measured(tests: &[EventfulTest], run: &Run, base: &str, rule: &Rule) -> Vec<Measured<Place>> {
    let mut found = Vec::new();
    for (test_at, test) in tests.iter().enumerate() {
        let Some(of_base) = test.systems.iter().find(|system| system.system == base) else { continue };
        for (system_at, system) in test.systems.iter().enumerate().filter(|(_, it)| it.system != base) {
            let pair = Pair { run, rule, system: &system.system, base };
            for (event_at, (own, of_base)) in system.events.iter().zip(&of_base.events).enumerate() {
                for (quantity, figure) in &own.figures {
                    let Some(base_figure) = of_base.figures.get(quantity) else { continue };
                    let at = Place { test: test_at, system: system_at, event: event_at, quantity: *quantity };
                    found.extend(pair.measure(
                        at,
                        &base_figure.rounds,
                        &figure.rounds,
                        quantity.resolution(),
                    ));
                }
            }
        }
    }
    found
}

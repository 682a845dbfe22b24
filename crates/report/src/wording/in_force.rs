//! Settings that are not in force, in words.

use dyno_judge::{Comparison, NotInForce, SystemNotInForce};

use crate::wording::number::counted;

/// Largest number of systems that a sentence names.
const NAMED_MAX: usize = 4;

/// First a sentence for each system that is in effect the same as another system. Then a sentence for each group of
/// systems on which the same settings are not in force.
pub(crate) fn sentences(systems: &[SystemNotInForce]) -> Vec<String> {
    let same = systems.iter().filter_map(|it| {
        let first = it.same_as.first()?;
        Some(format!(
            "{} is the same system as {first}: the settings that should differ are not in force. Differences between them are noise.",
            it.system
        ))
    });
    let mut groups: Vec<(&[NotInForce], Vec<&str>)> = Vec::new();
    for it in systems.iter().filter(|it| !it.settings.is_empty()) {
        match groups.iter_mut().find(|(settings, _)| *settings == it.settings) {
            Some((_, ids)) => ids.push(&it.system),
            None => groups.push((&it.settings, vec![&it.system])),
        }
    }
    same.chain(groups.iter().map(|(settings, ids)| {
        let (named, others) = ids.split_at(ids.len().min(NAMED_MAX));
        let others = match others.len() {
            0 => String::new(),
            more => format!(" and {}", counted(more as u64, "more system")),
        };
        format!("Not in force in {}{others}: {}.", named.join(", "), list(settings))
    }))
    .collect()
}

/// The sentences for the two systems of a comparison.
pub(crate) fn of_comparison(comparison: &Comparison) -> Vec<String> {
    let Comparison { base, candidate, same_for, .. } = comparison;
    let side = |side: &dyno_judge::Side, same_as: Vec<String>| SystemNotInForce {
        system: side.system.clone(),
        settings: side.not_in_force.clone(),
        same_as,
    };
    let same_as = same_for.iter().map(|_| base.system.clone()).collect();
    sentences(&[side(base, Vec::new()), side(candidate, same_as)])
}

/// Settings with the requested value and the value in force: `max_connections = 90000 (the server has 866),
/// sort_buffer_size = 1K (the server has 32768)`.
pub(crate) fn list(settings: &[NotInForce]) -> String {
    settings.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};
    use crate::{Format, RenderOptions, render};

    #[test]
    fn systems_that_are_the_same_are_told_first_and_settings_once() {
        let setting = |found: Option<&str>| NotInForce {
            name: "max_connections".to_owned(),
            asked: "90000".to_owned(),
            found: found.map(str::to_owned),
        };
        let system = |system: &str, settings: Vec<NotInForce>, same_as: &[&str]| SystemNotInForce {
            system: system.to_owned(),
            settings,
            same_as: same_as.iter().map(|id| (*id).to_owned()).collect(),
        };
        let systems = [
            system("a", vec![setting(Some("866"))], &[]),
            system("b", vec![setting(Some("866"))], &["a"]),
            system("c", vec![setting(None)], &[]),
        ];
        assert_eq!(
            sentences(&systems),
            [
                "b is the same system as a: the settings that should differ are not in force. Differences between them are noise.",
                "Not in force in a, b: max_connections = 90000 (the server has 866).",
                "Not in force in c: max_connections = 90000 (the server has no such setting and ignores it).",
            ]
        );
        assert_eq!(sentences(&[]), [""; 0]);
    }

    #[test]
    fn texts_tell_it_before_any_figure() {
        let run = sample::same_run();
        let reports = reports(&run);
        assert_eq!(reports.not_in_force.len(), 1);
        let same = "maria is the same system as mysql56";
        for (format, figures) in [(Format::Text, "Absolute"), (Format::Markdown, "## Absolute")] {
            let text = render(&reports, format, &RenderOptions { width: 1000, ..RenderOptions::default() });
            let place = text.find(same).unwrap_or_else(|| panic!("{text}"));
            assert!(place < text.find(figures).unwrap_or_else(|| panic!("{text}")), "{text}");
            assert!(!text.contains("faster than"), "{text}");
        }
    }
}

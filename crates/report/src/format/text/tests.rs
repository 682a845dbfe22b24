use super::*;
use crate::golden::assert_golden;
use crate::sample::{self, reports};

const PLAIN: RenderOptions = RenderOptions { color: false, width: 100 };

fn text(reports: &crate::Reports, options: &RenderOptions) -> String {
    crate::render(reports, crate::Format::Text, options)
}

fn eventful(options: RenderOptions) -> String {
    text(&reports(&sample::eventful_run()), &options)
}

#[test]
fn reads_as_people_expect() {
    assert_golden("text.txt", &eventful(PLAIN));
}

#[test]
fn fits_the_width_and_has_no_blanks_at_line_ends() {
    for line in eventful(PLAIN).lines() {
        assert!(line.width() <= 100, "{} columns: {line}", line.width());
        assert_eq!(line, line.trim_end());
    }
}

#[test]
fn thirty_eight_tests_of_five_systems_at_three_client_counts_fit_too() {
    let text = text(&reports(&sample::large_run()), &PLAIN);
    for line in text.lines() {
        assert!(line.width() <= 100, "{} columns: {line}", line.width());
    }
    assert!(text.contains("Scaling: throughput over client counts") && text.contains('█'));
}

#[test]
fn colour_is_only_where_there_is_a_verdict() {
    let tints = |rounds| {
        let text = text(&reports(&sample::run(rounds)), &RenderOptions { color: true, ..PLAIN });
        ["\x1b[36m", "\x1b[33m"].map(|tint| text.matches(tint).count())
    };
    assert_eq!(tints(1), [0, 0], "one round allows no verdict");
    let reports = reports(&sample::run(12));
    let count = |of: fn(&crate::VerdictCounts) -> usize| reports.verdicts.iter().map(of).sum::<usize>();
    let expected = [count(|verdict| verdict.improved), count(|verdict| verdict.regressed)];
    assert_eq!(tints(12), expected);
    assert!(expected.iter().all(|count| *count > 0));
    assert!(!eventful(PLAIN).contains('\x1b'));
}

#[test]
fn one_round_is_called_one_pair_of_servers_and_nothing_faster_or_slower() {
    let reports = reports(&sample::run(1));
    let text = text(&reports, &RenderOptions { color: false, width: 1000 });
    assert!(text.contains("One round: this pair of servers only. Ratios hold for these servers;"), "{text}");
    for paragraph in &reports.summary {
        assert!(!paragraph.contains("faster") && !paragraph.contains("slower"), "{paragraph}");
    }
    for format in [crate::Format::Markdown, crate::Format::Json] {
        let text = crate::render(&reports, format, &PLAIN);
        assert!(text.contains("One round: this pair of servers only."), "{format:?}");
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let mut coloured = eventful(RenderOptions { color: true, ..PLAIN });
    for style in ["\x1b[36m", "\x1b[33m", "\x1b[1m", "\x1b[0m"] {
        coloured = coloured.replace(style, "");
    }
    assert_eq!(coloured, eventful(PLAIN));
}

#[test]
fn a_wide_terminal_has_the_client_counts_side_by_side() {
    let wide = eventful(RenderOptions { color: false, width: 200 });
    assert!(wide.lines().count() < eventful(PLAIN).lines().count());
}

#[test]
fn names_may_be_longer_than_formatting_can_pad() {
    let mut run = sample::run_of(2, 2, 3, &[1, 4]);
    let system = run.systems[1].id.clone();
    let long = "x".repeat(1 << 17);
    run.systems[1].id.clone_from(&long);
    for trial in run.trials.iter_mut().filter(|trial| trial.record.system_id == system) {
        trial.record.system_id.clone_from(&long);
    }
    let reports = reports(&run);
    assert!(text(&reports, &PLAIN).contains(&long));
    assert!(text(&reports, &RenderOptions { width: usize::MAX, ..PLAIN }).contains(&long));
}

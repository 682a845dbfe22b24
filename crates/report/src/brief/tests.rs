use super::*;
use crate::golden::assert_golden;
use crate::sample::{self, reports};

const PLAIN: RenderOptions = RenderOptions { color: false, width: 100 };

fn steps() -> Vec<NextStep> {
    vec![
        NextStep::new("first-look-3.html", "the report for a browser"),
        NextStep::new("dyno report 3 --full", "all tables as text"),
        NextStep::new("dyno explain 3", "why the systems differ"),
    ]
}

fn brief(reports: &Reports, options: RenderOptions) -> String {
    render_brief(reports, "dyno report 3 --full", &steps(), &options)
}

#[test]
fn reads_as_people_expect() {
    assert_golden("brief.txt", &brief(&reports(&sample::eventful_run()), PLAIN));
}

#[test]
fn a_large_run_is_a_screen_too() {
    assert_golden("brief-large.txt", &brief(&reports(&sample::large_run()), PLAIN));
}

#[test]
fn no_run_takes_more_than_forty_lines_or_the_width() {
    let runs = [
        sample::run(1),
        sample::run(12),
        sample::eventful_run(),
        sample::large_run(),
        sample::run_of(38, 6, 7, &[1, 4, 16]),
        sample::same_run(),
        sample::crashed_run(),
        sample::laddered_run(),
        sample::searched_run(),
        sample::swept_run(),
        sample::spread_run(),
    ];
    for (at, run) in runs.iter().enumerate() {
        let reports = reports(run);
        for width in [80, 100, 200] {
            let text = brief(&reports, RenderOptions { color: false, width });
            assert!(height(&text) <= LINES_MAX, "run {at}, width {width}: {} lines\n{text}", height(&text));
            assert!(text.contains("dyno explain 3"), "run {at}: {text}");
            let title = phrases::title(&reports.run);
            for line in text.lines().filter(|line| *line != title) {
                assert!(line.width() <= width, "run {at}: {} columns: {line}", line.width());
            }
        }
    }
}

#[test]
fn tests_that_have_no_room_are_counted() {
    let text = brief(&reports(&sample::large_run()), PLAIN);
    let line = text.lines().find(|line| line.contains(" more")).unwrap();
    assert!(line.ends_with(": dyno report 3 --full"), "{text}");
}

#[test]
fn a_run_of_one_system_shows_its_rates() {
    let mut run = sample::run(6);
    run.systems.truncate(1);
    run.trials.retain(|trial| trial.record.system_id == "mysql56");
    let text = brief(&reports(&run), PLAIN);
    assert!(text.contains("\nThroughput\n") && text.contains("/s"), "{text}");
    assert!(!text.contains("multiple"), "{text}");
}

#[test]
fn a_run_without_a_trial_has_its_title_and_what_to_do() {
    let mut run = sample::run(6);
    run.trials.clear();
    let text = brief(&reports(&run), PLAIN);
    assert!(text.contains("plan first-look, run 3") && text.contains("dyno report 3 --full"), "{text}");
}

#[test]
fn colour_is_only_where_there_is_a_verdict() {
    let tints = |rounds| {
        let text = brief(&reports(&sample::run(rounds)), RenderOptions { color: true, ..PLAIN });
        ["\x1b[36m", "\x1b[33m"].map(|tint| text.matches(tint).count())
    };
    assert_eq!(tints(1), [0, 0], "one round allows no verdict");
    assert!(tints(12).iter().all(|count| *count > 0));
}

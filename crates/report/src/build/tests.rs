use dyno_store::{Outcome, RunState, Usage};

use super::*;
use crate::model::{Cell, Cost, Matrix};
use crate::sample::{self, reports};

fn cell<'a, T>(matrix: &'a Matrix<T>, step: &str, system: &str, clients: u32) -> &'a Cell<T> {
    let row = matrix.rows.iter().find(|row| row.step == step).unwrap();
    row.cells.iter().find(|cell| cell.system == system && cell.clients == clients).unwrap()
}

/// Sets the rates of the trials of a test, in order.
fn set_rates(run: &mut Run, step: &str, system: &str, clients: u32, rates: &[u64]) {
    for (number, rate) in rates.iter().enumerate() {
        let trial = sample::trial_mut(run, step, system, clients, number as u32);
        sample::set_rate(trial, *rate);
    }
}

/// A row as `step: system clients, …`.
fn shape_of<T>(matrix: &Matrix<T>) -> Vec<String> {
    let cells = |row: &crate::Row<T>| {
        row.cells
            .iter()
            .map(|cell| format!("{} {}", cell.system, cell.clients))
            .collect::<Vec<_>>()
            .join(", ")
    };
    matrix.rows.iter().map(|row| format!("{}: {}", row.step, cells(row))).collect()
}

#[test]
fn the_three_matrices_have_one_shape() {
    let reports = reports(&sample::run(3));
    let shape = |step: &str| format!("{step}: mysql56 1, maria 1, myrocks 1, mysql56 4, maria 4, myrocks 4");
    let steps = ["load", "point-query", "read-only", "update-index", "update-nonindex", "read-write"];
    let expected: Vec<String> = steps.into_iter().map(shape).collect();
    assert_eq!(shape_of(&reports.absolute), expected);
    assert_eq!(shape_of(&reports.relative), expected);
    assert_eq!(shape_of(&reports.efficiency), expected);
}

#[test]
fn cells_have_what_the_analysis_says() {
    let run = sample::eventful_run();
    let analysis = sample::analysis(&run);
    let reports = crate::reports(&run, &sample::checks(&run), &analysis);
    for test in &analysis.tests {
        for found in &test.cells {
            let Some(rate) = cell(&reports.absolute, &test.step, &found.system, test.clients).value() else {
                assert_eq!(found.rate, None);
                continue;
            };
            assert_eq!(Some(rate.operations_per_second), found.rate);
            let rounds = rate.rounds.iter().map(|round| (round.round, round.operations_per_second));
            assert!(rounds.eq(found.rounds.iter().map(|round| (round.round, round.value))));
            assert_eq!(rate.warnings, found.warnings);
        }
    }
    let comparison = analysis.comparison("mysql56", "myrocks").unwrap();
    for test in &comparison.tests {
        let relative = cell(&reports.relative, &test.step, "myrocks", test.clients).value().unwrap();
        assert_eq!((Some(relative.ratio), relative.interval), (test.ratio, test.interval));
        assert_eq!((relative.finding, &relative.undecided), (Some(test.finding), &test.undecided));
        let costs = cell(&reports.efficiency, &test.step, "myrocks", test.clients).value().unwrap();
        let own = costs.get(Cost::ServerCpu).unwrap().relative;
        assert_eq!(own, test.costs.get(&dyno_judge::Quantity::ServerCpu).copied());
    }
}

#[test]
fn the_base_is_once_itself_and_has_no_verdict() {
    let reports = reports(&sample::run(12));
    for row in &reports.relative.rows {
        for cell in row.cells.iter().filter(|cell| cell.system == "mysql56") {
            let verdict = cell.value().map(|relative| (relative.ratio, relative.finding));
            assert!(matches!(verdict, None | Some((1.0, None))), "{verdict:?}");
        }
    }
}

#[test]
fn against_another_base_verdicts_are_those_against_it() {
    let run = sample::run(12);
    let analysis = sample::analysis(&run);
    let reports = against("myrocks", &run, &TrialChecks::new(), &analysis);
    let bases: Vec<&str> =
        reports.systems.iter().filter(|system| system.is_base).map(|system| system.id.as_str()).collect();
    assert_eq!(bases, ["myrocks"]);
    let test = &analysis.comparison("myrocks", "mysql56").unwrap().tests[1];
    let relative = cell(&reports.relative, &test.step, "mysql56", test.clients).value().unwrap();
    assert_eq!((Some(relative.ratio), relative.finding), (test.ratio, Some(test.finding)));
    assert_eq!(
        reports.verdicts.iter().map(|verdict| &*verdict.candidate).collect::<Vec<_>>(),
        ["mysql56", "maria"]
    );
}

#[test]
fn a_rate_is_the_median_of_the_rounds_and_a_ratio_that_of_their_ratios() {
    let mut run = sample::run(6);
    set_rates(&mut run, "point-query", "mysql56", 1, &[100; 6]);
    set_rates(&mut run, "point-query", "maria", 1, &[140, 110, 120, 130, 150, 160]);
    let reports = reports(&run);
    let rate = cell(&reports.absolute, "point-query", "maria", 1).value().unwrap();
    assert_eq!(rate.operations_per_second.to_bits(), 135_f64.to_bits());
    assert_eq!(rate.rounds[1], RoundRate { round: 1, operations_per_second: 110.0 });
    let relative = cell(&reports.relative, "point-query", "maria", 1).value().unwrap();
    let interval = relative.interval.unwrap();
    assert!((interval.low - 1.1).abs() < 1e-9 && (interval.high - 1.6).abs() < 1e-9, "{interval:?}");
    assert_eq!((interval.confidence, relative.method), (0.96875, dyno_judge::Method::Exact));
}

#[test]
fn only_trials_of_the_same_round_are_compared() {
    let mut run = sample::run(3);
    set_rates(&mut run, "point-query", "mysql56", 1, &[100, 200, 400]);
    set_rates(&mut run, "point-query", "maria", 1, &[100, 100, 100]);
    sample::fail(&mut run, "point-query", "mysql56", 1, 0, "gone");
    sample::fail(&mut run, "point-query", "maria", 1, 1, "gone");
    let reports = reports(&run);
    let ratio = cell(&reports.relative, "point-query", "maria", 1).value().unwrap();
    assert!((ratio.ratio - 0.25).abs() < 1e-9, "{}", ratio.ratio);
    assert_eq!(ratio.rounds.iter().map(|round| round.round).collect::<Vec<_>>(), [2]);
    let rate = cell(&reports.absolute, "point-query", "maria", 1).value().unwrap();
    assert_eq!(rate.rounds.iter().map(|round| round.round).collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn what_is_not_measured_says_why() {
    let mut run = sample::run(2);
    for trial in 0..2 {
        sample::fail(&mut run, "point-query", "maria", 1, trial, "no memory");
        sample::fail(&mut run, "read-only", "mysql56", 4, trial, "gone");
    }
    run.trials.retain(|trial| trial.record.step_id != "read-write");
    let reports = reports(&run);
    let content = |step, system, clients| &cell(&reports.relative, step, system, clients).content;
    assert_eq!(*content("point-query", "maria", 1), Content::Failed);
    assert_eq!(*content("read-only", "maria", 4), Content::Incomparable);
    assert_eq!(*content("read-write", "maria", 1), Content::Missing);
    assert_eq!(*content("load", "maria", 1), Content::Unplanned);
}

#[test]
fn nothing_is_a_multiple_of_a_base_that_did_nothing() {
    let mut run = sample::run(2);
    set_rates(&mut run, "point-query", "mysql56", 1, &[0, 0]);
    let reports = reports(&run);
    for system in ["mysql56", "maria"] {
        assert_eq!(
            cell(&reports.relative, "point-query", system, 1).content,
            Content::Incomparable,
            "{system}"
        );
    }
}

#[test]
fn failures_are_gathered_by_system_and_message() {
    let mut run = sample::run(2);
    for trial in 0..2 {
        sample::fail(&mut run, "point-query", "maria", 1, trial, "no memory");
    }
    sample::fail(&mut run, "read-only", "maria", 1, 0, "no memory");
    sample::fail(&mut run, "read-only", "maria", 4, 1, "gone");
    let reports = reports(&run);
    let [memory, gone] = &reports.footnotes[..] else { panic!("{:?}", reports.footnotes) };
    assert_eq!((memory.number, memory.trials, &memory.message[..]), (1, 3, "no memory"));
    assert_eq!(memory.steps, ["point-query", "read-only"]);
    assert_eq!((gone.number, gone.trials, &gone.system[..]), (2, 1, "maria"));
    assert_eq!(cell(&reports.absolute, "read-only", "maria", 4).footnote, Some(2));
    assert_eq!(cell(&reports.absolute, "read-only", "myrocks", 4).footnote, None);
}

#[test]
fn a_cost_is_per_operation_and_unknown_where_it_was_not_measured() {
    let mut run = sample::run(1);
    for (system, user_cpu_us) in [("mysql56", 900), ("maria", 400)] {
        let trial = sample::trial_mut(&mut run, "point-query", system, 1, 0);
        trial.measured.as_mut().unwrap().counts.operations = 10;
        trial.usage = Usage {
            server_user_cpu_us: Some(user_cpu_us),
            server_system_cpu_us: Some(100),
            process_read_bytes: Some(0),
            ..Usage::default()
        };
    }
    let reports = reports(&run);
    let costs = cell(&reports.efficiency, "point-query", "maria", 1).value().unwrap();
    let server = costs.get(Cost::ServerCpu).unwrap();
    assert_eq!(server.median.to_bits(), 50_f64.to_bits());
    assert!((server.relative.unwrap().ratio - 0.5).abs() < 1e-9);
    assert_eq!(costs.get(Cost::ClientCpu), None);
    let read = costs.get(Cost::ReadKib).unwrap();
    assert_eq!((read.median, read.relative), (0.0, None), "nothing is a multiple of 0");
}

#[test]
fn a_trial_without_operations_has_no_cost() {
    let mut run = sample::run(1);
    set_rates(&mut run, "point-query", "maria", 1, &[0]);
    let reports = reports(&run);
    let rate = cell(&reports.absolute, "point-query", "maria", 1).value().unwrap();
    assert!(rate.operations_per_second < 0.1, "{}", rate.operations_per_second);
    let costs = cell(&reports.efficiency, "point-query", "maria", 1).value().unwrap();
    assert_eq!(costs.get(Cost::ServerCpu), None);
}

#[test]
fn size_is_what_the_last_trial_of_a_group_left() {
    let mut run = sample::run(2);
    sample::trial_mut(&mut run, "read-only", "maria", 4, 0).disk_bytes_after = Some(5);
    sample::trial_mut(&mut run, "read-only", "maria", 4, 1).disk_bytes_after = Some(7);
    sample::trial_mut(&mut run, "load", "maria", 4, 0).disk_bytes_after = None;
    let disk = reports(&run).disk;
    let of_maria: Vec<_> = disk.iter().map(|row| (&row.group[..], row.bytes[1])).collect();
    assert_eq!(of_maria[..2], [("load", None), ("read-only", Some(7))]);
    assert_eq!(disk.len(), 3);
}

#[test]
fn a_killed_run_counts_what_is_missing() {
    let mut run = sample::run(3);
    run.state = RunState::Killed;
    run.trials.truncate(40);
    run.trials[39].record.outcome = Outcome::failed("gone");
    let header = reports(&run).run;
    assert_eq!((header.trials_planned, header.trials_completed, header.trials_failed), (93, 39, 1));
    assert_eq!(header.state, "killed");
}

#[test]
fn a_run_that_was_killed_before_it_had_anything_still_has_reports() {
    let mut run = sample::run(1);
    (run.systems, run.steps, run.trials) = Default::default();
    let reports = reports(&run);
    assert_eq!((reports.absolute.rows.len(), reports.summary.len()), (0, 0));
}

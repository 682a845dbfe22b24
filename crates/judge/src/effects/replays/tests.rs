use dyno_store::{LatenessRecord, latency_record};

use super::*;
use crate::analyse;
use crate::sample::{add_step, disturb_in, run};
use crate::trial::check::TrialChecks;

/// A digest with ten statements of this latency.
fn digest(name: &str, latency_us: u64, error: Option<&str>) -> DigestRecord {
    DigestRecord {
        digest: name.to_owned(),
        statement: format!("SELECT {name}"),
        kind: "read".to_owned(),
        statements: 10 + u64::from(error.is_some()),
        rows: 10,
        rows_affected: 0,
        rows_examined: (latency_us > 150).then_some(latency_us),
        error_codes: error.map(|code| (code.to_owned(), 1)).into_iter().collect(),
        answers: None,
        latency: latency_record([latency_us; 10]),
    }
}

/// A run of two systems. `digests` returns what a system replays in a round.
fn replayed(rounds: usize, digests: impl Fn(&str, u32) -> Vec<DigestRecord>) -> Run {
    let mut run = run(1, &["old", "new"]);
    let rates = vec![1000.0; rounds];
    add_step(&mut run, "mine", "mine", 4, &[("old", rates.clone()), ("new", rates)]);
    for trial in &mut run.trials {
        trial.record.replayed = digests(&trial.record.system_id, trial.record.round);
        trial.record.replay = Some(ReplayRecord {
            sessions: 4,
            sessions_lost: u64::from(trial.record.system_id == "new"),
            not_sent: BTreeMap::from([("server".to_owned(), 2)]),
            late: Some(LatenessRecord { p50_us: 1.0, p99_us: f64::from(trial.record.round), max_us: 9.0 }),
            ..ReplayRecord::default()
        });
    }
    run
}

fn of(run: &Run) -> ReplayedTest {
    let analysis = analyse(run, &TrialChecks::new(), &Rule::default());
    let [test] = &analysis.replays[..] else { panic!("{:?}", analysis.replays) };
    test.clone()
}

fn ratio(test: &ReplayedTest, digest: &str) -> DigestRatio {
    let found = test.digests.iter().find(|it| it.digest == digest).unwrap();
    assert_eq!(found.systems[0].against_base, None, "the base");
    found.systems[1].against_base.unwrap()
}

#[test]
fn a_slower_digest_regresses_and_others_are_the_same() {
    let run = replayed(8, |system, round| {
        let is_new = u64::from(system == "new");
        let noise = |times: u64| (u64::from(round) * times + is_new) % 5;
        vec![digest("a", 10_000 + 10 * noise(7), None), digest("b", (1 + is_new) * 500 + noise(3), None)]
    });
    let test = of(&run);
    assert_eq!(test.digests.iter().map(|it| it.digest.as_str()).collect::<Vec<_>>(), ["a", "b"], "by time");
    let (same, slower) = (ratio(&test, "a"), ratio(&test, "b"));
    assert_eq!((same.finding, slower.finding), (Finding::Same, Finding::Regressed));
    assert!((slower.ratio.unwrap() - 2.0).abs() < 0.02 && slower.rounds == 8, "{slower:?}");
    let share = test.digests[0].time_share.unwrap();
    assert!((share - 10_000.0 / 10_500.0).abs() < 1e-3, "{share}");
    assert_eq!(test.digests[1].systems[1].statements, 80);
    let new = &test.systems[1];
    assert_eq!((new.rounds, new.statements, new.sessions, new.sessions_lost), (8, 160, 32, 8));
    assert_eq!((new.not_sent["server"], new.late_p99_us), (16, Some(7.0)));
}

#[test]
fn a_few_rounds_decide_nothing() {
    let run = replayed(2, |system, _| vec![digest("a", if system == "new" { 900 } else { 100 }, None)]);
    let found = ratio(&of(&run), "a");
    assert_eq!((found.finding, found.p_adjusted), (Finding::NotEnoughEvidence, None));
    assert!((found.ratio.unwrap() - 9.0).abs() < 0.1);
}

#[test]
fn a_digest_fails_with_an_error_that_the_base_does_not_have() {
    let of_code = |old: Option<&'static str>, new: Option<&'static str>| {
        let run =
            replayed(8, move |system, _| vec![digest("a", 100, if system == "new" { new } else { old })]);
        ratio(&of(&run), "a").finding
    };
    assert_eq!(of_code(None, Some("1064")), Finding::Failed);
    assert_eq!(of_code(Some("1064"), Some("1064")), Finding::Same);
    assert_eq!(of_code(None, Some("1213")), Finding::Same, "a deadlock is chance");
    assert_eq!(of_code(Some("1064"), None), Finding::Same);
}

#[test]
fn a_digest_that_always_fails_has_no_ratio() {
    let run = replayed(8, |system, _| {
        let found = digest("a", 100, None);
        let codes = BTreeMap::from([("42601".to_owned(), found.statements)]);
        let failed = DigestRecord { error_codes: codes, latency: latency_record([]), ..found.clone() };
        vec![if system == "new" { failed } else { found }]
    });
    let found = ratio(&of(&run), "a");
    assert_eq!((found.finding, found.ratio, found.rounds), (Finding::Failed, None, 0));
}

#[test]
fn answers_are_compared_where_they_are_determined() {
    let of_rounds = |old: fn(u32) -> u64, new: fn(u32) -> u64, rounds: usize| {
        let run = replayed(rounds, |system, round| {
            let answers = Some(if system == "new" { new(round) } else { old(round) });
            vec![DigestRecord { answers, ..digest("a", 100, None) }]
        });
        let test = of(&run);
        assert_eq!(test.digests[0].systems[0].answers, None, "the base");
        test.digests[0].systems[1].answers.unwrap()
    };
    assert_eq!(of_rounds(|_| 5, |_| 5, 2), Answers::Same);
    assert_eq!(of_rounds(|_| 5, |_| 6, 2), Answers::Differ);
    assert_eq!(of_rounds(u64::from, |_| 6, 2), Answers::NotDetermined, "the base differs from itself");
    assert_eq!(of_rounds(|_| 5, u64::from, 2), Answers::NotDetermined);
    assert_eq!(of_rounds(|_| 5, |_| 6, 1), Answers::NotDetermined, "nobody knows what a second round says");
}

#[test]
fn errors_and_answers_count_in_disturbed_rounds_and_times_do_not() {
    let mut run = replayed(8, |system, _| {
        let answers = Some(u64::from(system == "new"));
        vec![DigestRecord { answers, ..digest("a", 100, (system == "new").then_some("1064")) }]
    });
    disturb_in(&mut run, "mine", "new", 0..8, 900_000_000);
    let found = of(&run);
    assert_eq!(found.digests[0].systems[1].statements, 88);
    assert_eq!(ratio(&found, "a").finding, Finding::Failed);
    assert_eq!((ratio(&found, "a").rounds, found.systems[1].time_against_base), (0, None));
    assert_eq!(found.digests[0].systems[1].mean_us, Some(100.0), "better than none");
}

#[test]
fn the_time_of_all_statements_weighs_each_digest_by_its_time() {
    let run = replayed(8, |system, round| {
        let is_new = u64::from(system == "new");
        vec![digest("a", 9_000 + u64::from(round), None), digest("b", 1000 + 1000 * is_new, None)]
    });
    let found = of(&run);
    assert_eq!(found.systems[0].time_against_base, None);
    let time = found.systems[1].time_against_base.unwrap();
    assert!((time.ratio.unwrap() - 1.1).abs() < 0.001, "{time:?}");
    assert_eq!((time.finding, time.rounds), (Finding::Regressed, 8));
}

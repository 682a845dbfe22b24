use super::*;
use std::collections::HashMap;

use dyno_judge::TrialCheck;
use dyno_stats::{Steadiness, Variation};
use dyno_store::{CounterRecord, Phase, Run, Second, Trial, Usage};

use crate::sample;

fn page(run: &Run) -> String {
    sample::with_page_input(run, render_html)
}

#[test]
fn every_number_of_the_reports_is_in_the_page_without_the_script() {
    let run = sample::eventful_run();
    let page = page(&run);
    let reports = sample::reports(&run);
    let cells = reports.absolute.rows.iter().flat_map(|row| &row.cells).filter_map(|cell| cell.value());
    let mut count = 0;
    for rate in cells {
        let text = format!("<b>{}</b>", crate::wording::number::three_digits(rate.operations_per_second));
        assert!(page.contains(&text), "{text}");
        count += 1;
    }
    assert!(count > 20);
    for warning in [
        "limits differed from the plan's in 1 of 12 rounds: memory was 512M, not 256M",
        "tables of load loaded again without measurement in 2 of 12 rounds",
    ] {
        assert!(page.contains(warning), "{warning}");
    }
    for sentence in &reports.footnotes {
        assert!(page.contains(&sentence.message));
    }
}

#[test]
fn hostile_names_stay_names() {
    let hostile = "</script><img src=x onerror=alert(1)>\"'";
    let mut run = sample::run(2);
    run.record.plan_title = hostile.to_owned();
    run.record.plan_text = hostile.to_owned();
    run.record.host.os = Some(hostile.to_owned());
    run.audit = Some(serde_json::json!({
        "findings": [{ "severity": hostile, "explanation": hostile }], "durability": [{ "system": hostile, "class": hostile }],
    }));
    let old = run.systems[1].id.clone();
    run.systems[1].id = hostile.to_owned();
    run.systems[1].variables = vec![(hostile.to_owned(), hostile.to_owned())];
    run.steps[0].id = hostile.to_owned();
    run.steps[0].group = hostile.to_owned();
    for trial in run.trials.iter_mut().map(|trial| &mut trial.record) {
        if trial.system_id == old {
            trial.system_id = hostile.to_owned();
        }
        if trial.step_id == "load" {
            trial.step_id = hostile.to_owned();
        }
    }
    let page = page(&run);
    assert!(!page.contains("<img"), "an element came out of a name");
    let scripts = page.matches("</script>").count();
    assert_eq!(scripts, 3 + run.steps.len(), "model, views, the script itself, and each step's cells");
}

#[test]
fn the_policy_names_this_script_and_allows_no_network() {
    let policy = assets::policy(false);
    assert!(policy.starts_with("default-src 'none'") && policy.contains("script-src 'sha256-"), "{policy}");
    let page = page(&sample::run(1));
    for outside in ["http-equiv=\"refresh", "<link", "src=\"", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn a_run_without_anything_has_a_page() {
    let mut run = sample::run(1);
    (run.systems, run.steps, run.trials) = Default::default();
    assert!(page(&run).ends_with("</html>"));
}

/// Sixty seconds that differ between trials, so that they compress as badly as real data.
fn noisy_seconds(trial: &Trial, random: &mut dyno_stats::SplitMix64) -> Vec<Second> {
    let rate =
        trial.record.measured.as_ref().map_or(0.0, |measured| measured.counts.operations as f64 / 10.0);
    let second = |_| {
        let mut about = |level: f64| Some((level * (0.9 + random.below(2000) as f64 / 1e4)) as u64);
        let operations = about(rate).unwrap_or(0);
        let mut latency_us = |us: f64| about(us * 1e3).map(|ns| ns as f64 / 1e3);
        Second {
            phase: Phase::Measure,
            seconds: 1.0,
            operations,
            events: operations,
            due: None,
            errors: 0,
            failed: 0,
            p50_us: latency_us(120.0),
            p95_us: latency_us(450.0),
            p99_us: latency_us(1_300.0),
            max_us: latency_us(20_000.0),
            usage: Usage {
                server_user_cpu_us: about(900_000.0),
                server_system_cpu_us: about(300_000.0),
                client_user_cpu_us: about(200_000.0),
                client_system_cpu_us: about(100_000.0),
                device_reads: about(700.0),
                device_read_bytes: about(9e6),
                device_writes: about(1_500.0),
                device_write_bytes: about(3e7),
                device_flushes: about(300.0),
                host_user_cpu_us: about(1_300_000.0),
                host_system_cpu_us: about(500_000.0),
                host_iowait_cpu_us: about(90_000.0),
                host_steal_cpu_us: about(8_000.0),
                host_idle_cpu_us: about(300_000.0),
                ..Usage::default()
            },
        }
    };
    (0..60).map(second).collect()
}

fn noisy_check(check: &TrialCheck, random: &mut dyno_stats::SplitMix64) -> TrialCheck {
    let mut share = || random.below(1000) as f64 / 1000.0;
    TrialCheck {
        steadiness: Some(Steadiness::Warming { change: share() }),
        variation: check.variation.map(|_| Variation {
            coefficient: share(),
            worst: share(),
            stalled: 1,
            stalled_longest: 1,
        }),
        little: check.little.map(|little| dyno_judge::Little { busy_share: share(), ..little }),
        disturbance: check.disturbance.map(|found| dyno_judge::Disturbance {
            steal_share: share(),
            others_share: share(),
            ..found
        }),
        ..check.clone()
    }
}

#[test]
fn a_page_of_forty_tests_and_six_systems_stays_below_two_megabytes() {
    let run = sample::run_of(40, 6, 3, &[1, 2, 4, 8, 16, 32]);
    let mut random = dyno_stats::SplitMix64::new(1);
    let counters = |names: usize| -> Vec<CounterRecord> {
        let counter = |at| CounterRecord {
            name: format!("Innodb_counter_number_{at}"),
            is_gauge: false,
            first: 0.0,
            last: at as f64 * 977.0,
            values: Vec::new(),
        };
        (0..names).map(counter).collect()
    };
    let shown = run.trials.iter().filter(|trial| trial.record.round == 1);
    let trials: HashMap<_, _> = shown
        .map(|trial| {
            (trial.id, TrialDetails { seconds: noisy_seconds(trial, &mut random), counters: counters(40) })
        })
        .collect();
    let checks = sample::checks(&run).into_iter().map(|(id, check)| (id, noisy_check(&check, &mut random)));
    let details = Details { trials, checks: checks.collect(), is_thinned: true };
    let analysis = sample::analysis(&run);
    let input = PageInput {
        run: &run,
        analysis: &analysis,
        details: &details,
        curves: &[],
        reasons: &crate::Reasons::default(),
        is_live: false,
    };
    let page = render_html(&input);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
}

#[test]
fn a_page_says_what_verdicts_rest_on_and_that_one_round_allows_none() {
    let of = |run: &Run| page(run).replace("&#39;", "'");
    let page_of_one = of(&sample::run(1));
    assert!(page_of_one.contains("One round: this pair of servers only."));
    assert!(!page_of_one.contains("<td data-tint"), "a tint without a verdict");
    let run = sample::eventful_run();
    let page = of(&run);
    for sentence in sample::reports(&run).evidence {
        assert!(page.contains(&sentence), "{sentence}");
    }
    for says in ["still rising in", "stalls: the ratio over the whole time is", "works between its slices"] {
        assert!(page.contains(says), "{says}");
    }
    assert!(page.contains("<td data-tint"));
}

#[test]
fn a_cell_carries_its_explanation_and_no_other_does() {
    let run = sample::run(3);
    let details = Details::default();
    let analysis = sample::analysis(&run);
    let explanation = dyno_judge::Explanation { candidate: "maria".to_owned(), ..sample::planned() };
    let why =
        vec![crate::Why::of(&explanation, crate::ProofState::NotMade { command: "prove it".to_owned() })];
    let reasons = crate::Reasons { explanations: vec![explanation], why };
    let input = PageInput {
        run: &run,
        analysis: &analysis,
        details: &details,
        curves: &[],
        reasons: &reasons,
        is_live: false,
    };
    let page = render_html(&input);
    assert!(page.contains("<section id=\"why\">") && page.contains("prove it"));
    let place = run.steps.iter().position(|step| step.id == "point-query").unwrap();
    let start = page.find(&format!("<script id=\"cells-{place}\" type=\"text/plain\">")).unwrap();
    let block = page[start..].split_once('>').unwrap().1.split_once('<').unwrap().0;
    let cells = drill_down::pack::unpacked(block);
    let explained: Vec<usize> = cells["cells"]
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
        .filter(|(_, cell)| cell["explained"].is_object())
        .map(|(at, _)| at)
        .collect();
    let systems = run.systems.len();
    let system = run.systems.iter().position(|system| system.id == "maria").unwrap();
    let level = analysis.tests.iter().map(|test| test.clients).collect::<std::collections::BTreeSet<_>>();
    let level = level.into_iter().position(|clients| clients == 4).unwrap();
    assert_eq!(explained, [level * systems + system]);
}

#[test]
fn systems_that_are_the_same_are_told_before_any_figure() {
    let page = page(&sample::same_run());
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    assert!(place("maria is the same system as mysql56") < place("id=\"absolute\""));
    assert!(page.contains("innodb_buffer_pool_instances = 8 (the server has 1)"));
}

use dyno_judge::{
    DigestFigures, DigestRatio, DigestTest, Finding, Method, ReplayedSystem, ReplayedTest, Safety,
    SettingDifference, upgrade_found,
};
use dyno_stats::{Interval, Margin};

use crate::format::{Format, RenderOptions, render};
use crate::model::upgrade::{DigestPlans, Refusal, UpgradeReport, UpgradedSystem};

fn ratio(ratio: f64, finding: Finding) -> DigestRatio {
    DigestRatio {
        ratio: Some(ratio),
        interval: Some(Interval { low: ratio * 0.98, high: ratio * 1.02, confidence: 0.95 }),
        method: Method::Exact,
        rounds: 8,
        p_adjusted: Some(0.01),
        finding,
    }
}

fn digest(statement: &str, share: f64, found: DigestRatio) -> DigestTest {
    let figures = |system: &str, mean_us| DigestFigures {
        system: system.to_owned(),
        statements: 80,
        rows: 80,
        mean_us: Some(mean_us),
        rows_examined: (share > 0.3 && share < 0.5).then_some(mean_us as u64 * 7),
        ..DigestFigures::default()
    };
    let mut after = DigestFigures { against_base: Some(found), ..figures("b", 2500.0) };
    if found.finding == Finding::Failed {
        after.error_codes.insert("1064".to_owned(), 80);
    }
    DigestTest {
        digest: "abcdef0123456789".to_owned(),
        statement: statement.to_owned(),
        kind: "read".to_owned(),
        time_share: Some(share),
        systems: vec![figures("a", 1000.0), after],
    }
}

fn report(digests: Vec<DigestTest>) -> UpgradeReport {
    let system = |id: &str, time_against_base| ReplayedSystem {
        system: id.to_owned(),
        time_against_base,
        ..ReplayedSystem::default()
    };
    let systems = vec![system("a", None), system("b", Some(ratio(1.0, Finding::Same)))];
    let replay = ReplayedTest { step: "traffic".to_owned(), clients: 1, systems, digests };
    let margin = Margin::new(0.1).unwrap();
    let found = upgrade_found(&replay, "a", "b", margin).unwrap();
    UpgradeReport {
        safety: found.safety,
        from: UpgradedSystem { id: "a".to_owned(), version: Some("10.5".to_owned()), data: None },
        to: UpgradedSystem { id: "b".to_owned(), version: None, data: Some("upgraded in place".to_owned()) },
        traffic: "my.traffic".to_owned(),
        margin,
        run: Some(3),
        refusal: None,
        found: Some(found),
        replay: Some(replay),
        plans: Vec::new(),
        proof: None,
        settings: Vec::new(),
        warnings: Vec::new(),
    }
}

fn text(report: &UpgradeReport) -> String {
    let text = render(report, Format::Text, &RenderOptions { color: false, width: 400 });
    for format in [Format::Html, Format::Markdown] {
        assert!(render(report, format, &RenderOptions::default()).contains(&report.to.id));
    }
    text
}

#[test]
fn the_headline_counts_and_what_is_worse_is_listed() {
    let slower = digest("SELECT `slow`", 0.31, ratio(2.5, Finding::Regressed));
    let failed = digest("SELECT rank FROM t", 0.01, ratio(1.0, Finding::Failed));
    let mut report = report(vec![slower, failed, digest("SELECT 1", 0.68, ratio(1.0, Finding::Same))]);
    report.proof = Some("dyno explain 3 b --test traffic --prove".to_owned());
    report.plans.push(DigestPlans {
        statement: "SELECT `slow`".to_owned(),
        from: "INDEX k".to_owned(),
        to: "SCAN".to_owned(),
    });
    report.settings = vec![
        SettingDifference {
            name: "query_cache_type".to_owned(),
            base: Some("OFF".to_owned()),
            candidate: None,
            about: Some("whether results are cached".to_owned()),
            acts_on: Vec::new(),
        },
        SettingDifference {
            name: "new_one".to_owned(),
            base: None,
            candidate: Some("1".to_owned()),
            about: None,
            acts_on: Vec::new(),
        },
    ];
    let text = text(&report);
    for wanted in [
        "The upgrade from a to b is not safe",
        "Of 3 digests 1 is slower (31% of the time), 1 fails, 1 is as fast as before (68% of the time).",
        "upgraded in place",
        "SELECT `slow`",
        "rows read before",
        "17500",
        "error 1064 × 80 in 80 statements: SELECT rank FROM t",
        "`dyno explain 3 b --test traffic --prove` measures which of the settings",
        "INDEX k",
        "query_cache_type OFF → gone: whether results are cached",
    ] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
}

#[test]
fn a_safe_upgrade_says_so() {
    let report = report(vec![digest("SELECT 1", 1.0, ratio(1.0, Finding::Same))]);
    assert_eq!(report.safety, Safety::Safe);
    let text = text(&report);
    assert!(text.contains("The upgrade from a to b is safe for this traffic"), "{text}");
    assert!(text.contains("in 8 rounds, which is the same within 10%"), "{text}");
}

#[test]
fn a_refusal_is_an_answer_with_what_the_server_said() {
    let refusal = Refusal {
        message: "exit status: 1".to_owned(),
        log: vec!["[ERROR] Invalid upgrade".to_owned()],
        path: Some("Upgrade in steps.".to_owned()),
    };
    let refused = UpgradeReport {
        safety: Safety::NotSafe,
        refusal: Some(refusal),
        found: None,
        replay: None,
        ..report(Vec::new())
    };
    let text = text(&refused);
    for wanted in
        ["b does not take the data of a: exit status: 1", "Upgrade in steps.", "[ERROR] Invalid upgrade"]
    {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
}

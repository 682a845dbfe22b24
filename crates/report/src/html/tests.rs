use super::*;
use crate::sample;

fn page(run: &Run) -> String {
    let claims = ClaimLine::unjudged(run);
    render_html(&PageInput {
        run,
        details: &Details::default(),
        claims: &claims,
        curves: &[],
        is_live: false,
    })
}

#[test]
fn every_number_of_the_reports_is_in_the_page_without_the_script() {
    let run = sample::eventful_run();
    let page = page(&run);
    let reports = crate::reports(&run);
    let cells = reports.absolute.rows.iter().flat_map(|row| &row.cells).filter_map(|cell| cell.value());
    let mut count = 0;
    for rate in cells {
        let text = format!("<b>{}</b>", crate::number::three_digits(rate.operations_per_second));
        assert!(page.contains(&text), "{text}");
        count += 1;
    }
    assert!(count > 20);
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
    run.record.host = serde_json::json!({ "os": hostile, hostile: hostile });
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

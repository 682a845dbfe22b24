//! The HTML report of a real run in a real browser. `DYNO_SCREENSHOTS=DIR` keeps screenshots.

use std::env;
use std::fs;
use std::sync::OnceLock;

use dyno_browser::{Browser, Page, Scheme};
use dyno_testing::{Completion, Failed, Trial, dyno_test};
use serde_json::Value;

use super::serve::Served;
use crate::bench::Bench;

/// A name that breaks out of HTML, scripts and attributes unless it is escaped.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>";

/// Makes a test that needs a browser. Without one, the test is ignored with the reason, or fails if
/// `DYNO_REQUIRE_BROWSER=1`.
pub(crate) fn with_browser(name: &str, test: fn(&mut Browser)) -> Vec<Trial> {
    let run = move || match Browser::start() {
        Ok(mut browser) => {
            test(&mut browser);
            Ok(Completion::Completed)
        }
        Err(reason) if env::var_os("DYNO_REQUIRE_BROWSER").is_some_and(|value| value == "1") => {
            Err(Failed::from(reason))
        }
        Err(reason) => Ok(Completion::ignored_with(reason)),
    };
    vec![Trial::ignorable_test(name, run)]
}

/// A bench with a run of two systems, and the address of the run's page. `candidate` becomes the name of the second
/// system. The run is made once for all tests.
fn report(candidate: &str) -> (Bench, String) {
    static RESULTS: OnceLock<(Vec<u8>, String)> = OnceLock::new();
    let (results, page) = RESULTS.get_or_init(|| {
        let bench = Bench::new();
        let plan = crate::bench::sqlite_plan(2.5)
            .replace("clients = [1]", "clients = [1, 2]")
            .replace("slice_seconds = 0.03", "slice_seconds = 0.1");
        bench.write("plan.toml", &plan);
        let ended = bench.dyno(&["run", "plan.toml", "--rounds", "1"]).with(0);
        assert!(ended.stdout.contains("  tiny-1.html "), "{}", ended.stdout);
        let results = fs::read(bench.path("dyno.db")).unwrap();
        (results, fs::read_to_string(bench.path("tiny-1.html")).unwrap())
    });
    let bench = Bench::new();
    fs::write(bench.path("dyno.db"), results).unwrap();
    bench.write("tiny-1.html", page);
    if candidate != "wal" {
        rename(&bench, candidate);
        assert_eq!(bench.dyno(&["report", "--format", "html"]).status, Some(0));
    }
    let address = format!("file://{}", bench.path("tiny-1.html").display());
    (bench, address)
}

/// Renames the candidate in the results file. Dyno checks names in plans, but a results file may come from
/// anywhere.
fn rename(bench: &Bench, candidate: &str) {
    let file = rusqlite::Connection::open(bench.path("dyno.db")).unwrap();
    file.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    for (table, column) in
        [("system", "id"), ("trial", "system_id"), ("instance", "system_id"), ("variable", "system_id")]
    {
        file.execute(&format!("UPDATE {table} SET {column} = ?1 WHERE {column} = 'wal'"), [candidate])
            .unwrap();
    }
    file.execute("UPDATE run SET plan_title = ?1, plan_text = ?1", [candidate]).unwrap();
}

fn ready(page: &mut Page<'_>) {
    page.wait_until("document.documentElement.hasAttribute('data-ready')");
}

/// The text of a matrix's cell.
fn cell(page: &mut Page<'_>, matrix: &str, step: &str, system: &str, clients: u32) -> String {
    let href = format!("#cell={step}/{system}/{clients}");
    page.text(&format!("document.querySelector(`[data-matrix={matrix}] a[href='{href}'] b`).textContent"))
}

/// The rate of a system in a step with one client, from the results file.
fn rate(bench: &Bench, step: &str, system: &str) -> f64 {
    let sql = format!(
        "SELECT operations / seconds FROM trial WHERE step_id = '{step}' AND system_id = '{system}' AND clients = 1"
    );
    bench.value(&sql).unwrap()
}

/// The ratio of `wal` to `rollback` with one client in the JSON report.
fn ratio(bench: &Bench, step: &str) -> f64 {
    let json: Value = serde_json::from_str(&bench.dyno(&["report", "--format", "json"]).stdout).unwrap();
    let rows = json["relative"].as_array().unwrap();
    let cells = rows.iter().find(|row| row["step"] == step).unwrap()["cells"].as_array().unwrap();
    let is_it = |cell: &&Value| cell["system"] == "wal" && cell["clients"] == 1;
    cells.iter().find(is_it).unwrap()["ratio"].as_f64().unwrap()
}

fn is_near(text: &str, value: f64) -> bool {
    let shown: f64 = text.replace(',', "").parse().unwrap();
    // Reports show rates with three digits and ratios with two decimals.
    (shown / value - 1.0).abs() < 0.006 || (shown - value).abs() < 0.006
}

fn finish(page: &mut Page<'_>) {
    assert_eq!(page.complaints(), [""; 0]);
    assert_eq!(page.requests().len(), 1, "{:?}", page.requests());
}

#[dyno_test(with_browser)]
fn the_numbers_on_the_page_are_those_of_the_results_file(browser: &mut Browser) {
    let (bench, address) = report("wal");
    let mut page = browser.open(&address, 1280, 900, Scheme::Light);
    ready(&mut page);
    for (step, system) in [("update", "rollback"), ("update", "wal"), ("point-query", "wal")] {
        let (shown, measured) = (cell(&mut page, "absolute", step, system, 1), rate(&bench, step, system));
        assert!(is_near(&shown, measured), "{step} of {system}: {shown} is not {measured}");
    }
    let ratio = ratio(&bench, "update");
    assert!(is_near(&cell(&mut page, "relative", "update", "wal", 1), ratio));
    page.keep_picture("report-light", true);
    finish(&mut page);
}

#[dyno_test(with_browser)]
fn another_base_turns_every_ratio_around(browser: &mut Browser) {
    let (bench, address) = report("wal");
    let mut page = browser.open(&address, 1280, 900, Scheme::Dark);
    ready(&mut page);
    page.eval("(() => { const base = document.querySelector('select[name=base]'); base.value = 'wal'; base.dispatchEvent(new Event('change', { bubbles: true })); })()");
    page.wait_until("document.querySelector('[data-base-name]').textContent === 'wal'");
    page.wait_until("document.querySelector(`[data-matrix=relative] a[href='#cell=update/wal/1'] b`).textContent === '1.00'");
    let ratio = 1.0 / ratio(&bench, "update");
    assert!(is_near(&cell(&mut page, "relative", "update", "rollback", 1), ratio));
    assert_eq!(page.text("location.hash"), "#base=wal");
    let cards = page.text("document.querySelector('.cards:not([hidden]) h3').textContent");
    assert_eq!(cards, "rollback against wal");
    page.keep_picture("report-dark", true);
    finish(&mut page);
}

#[dyno_test(with_browser)]
fn every_test_has_its_line_and_a_pointer_tells_why_it_has_no_verdict(browser: &mut Browser) {
    let (bench, address) = report("wal");
    let mut page = browser.open(&address, 1280, 900, Scheme::Light);
    ready(&mut page);
    let line = "document.querySelector(`#forest a[href='#cell=update/wal/1']`)";
    let shown = page.text(&format!("{line}.closest('tr').querySelector('td.num b').textContent"));
    assert!(is_near(&shown, ratio(&bench, "update")), "{shown}");
    // One round gives no verdict: the dot is hollow, and its tooltip says why.
    assert_eq!(page.eval(&format!("{line}.querySelector('.dot.open') !== null")), true);
    let of_matrix = "document.querySelector(`[data-matrix=relative] a[href='#cell=update/wal/1']`)";
    for link in [line, of_matrix] {
        let hint = page.text(&format!("{link}.title"));
        let (verdict, reason) = hint.lines().next().unwrap().split_once(": ").expect("a reason");
        assert!(["not decided", "not judged"].contains(&verdict) && !reason.is_empty(), "{hint}");
    }
    page.eval("(() => { const base = document.querySelector('select[name=base]'); base.value = 'wal'; base.dispatchEvent(new Event('change', { bubbles: true })); })()");
    page.wait_until("document.querySelector(`#forest a[href='#cell=update/rollback/1']`)?.title.length > 0");
    page.eval("document.querySelector(`#forest a[href='#cell=update/rollback/1']`).click()");
    page.wait_until("document.querySelector('#drilldown h2')?.textContent === 'update · rollback'");
    finish(&mut page);
}

#[dyno_test(with_browser)]
fn charts_have_values_before_anyone_points_at_them_and_none_is_empty(browser: &mut Browser) {
    let (_bench, address) = report("wal");
    let mut page = browser.open(&format!("{address}#cell=update/wal/2"), 1280, 900, Scheme::Light);
    page.wait_until("document.querySelectorAll('#drilldown .uplot canvas').length >= 3");
    let values = "[...document.querySelectorAll('#drilldown .u-legend .u-series:not(:first-child) .u-value')]
                  .map((value) => value.textContent)";
    assert_eq!(page.eval(&format!("{values}.length > 3")), true);
    let empty = page.eval(&format!("{values}.filter((value) => !/[0-9]/.test(value))"));
    assert_eq!(empty, serde_json::json!([]));
    let plots =
        "[...document.querySelectorAll('#drilldown .plot')].filter((plot) => !plot.firstChild).length";
    assert_eq!(page.eval(plots), 0, "a place without a chart says why");
    finish(&mut page);
}

#[dyno_test(with_browser)]
fn a_drilldown_shows_the_seconds_of_a_cell_and_can_be_shared(browser: &mut Browser) {
    let (bench, address) = report("wal");
    let mut page =
        browser.open(&format!("{address}#cell=update/wal/2&base=rollback"), 1280, 900, Scheme::Light);
    page.wait_until("document.querySelectorAll('#drilldown .uplot canvas').length >= 3");
    assert_eq!(page.text("document.querySelector('#drilldown h2').textContent"), "update · wal");
    let samples: i64 = bench
        .value("SELECT count(*) FROM sample JOIN trial ON trial.id = trial_id WHERE step_id = 'update' AND system_id = 'wal' AND clients = 2")
        .unwrap();
    let csv = "new Promise((resolve) => { URL.createObjectURL = (blob) => (blob.text().then(resolve), 'blob:none'); HTMLAnchorElement.prototype.click = () => {}; [...document.querySelectorAll('#drilldown button')].at(-1).click(); })";
    let csv = page.text(csv);
    assert_eq!(csv.lines().count() as i64, samples + 1, "{csv}");
    assert!(csv.starts_with("step,system,clients,round,at_seconds,phase,operations_per_second,"), "{csv}");
    page.keep_picture("drilldown-light", false);
    page.press("Escape");
    page.wait_until("!document.querySelector('#drilldown').open");
    // The address changes only after the dialog's close event.
    page.wait_until("!location.href.includes('cell=')");
    finish(&mut page);
}

#[dyno_test(with_browser)]
fn a_disturbed_trial_is_marked_in_every_report(browser: &mut Browser) {
    let (bench, address) = report("wal");
    let file = rusqlite::Connection::open(bench.path("dyno.db")).unwrap();
    file.execute_batch(
        "UPDATE trial SET watched_us = 1000000, watched_cpus = 1, neighbour_cpu_us = 0, neighbour_steal_us = 0;
         UPDATE trial SET neighbour_steal_us = 200000 WHERE step_id = 'update' AND system_id = 'wal' AND clients = 2",
    )
    .unwrap();
    drop(file);
    let text = bench.dyno(&["report", "--full"]).stdout;
    assert!(
        text.contains("- update at 2 clients · wal: of 1 round, 1 disturbed (steal up to 20%)"),
        "{text}"
    );
    assert_eq!(bench.dyno(&["report", "--format", "html"]).status, Some(0));
    let mut page = browser.open(&format!("{address}#cell=update/wal/2"), 1280, 900, Scheme::Light);
    page.wait_until("document.querySelector('#drilldown .checks tr.disturbed') !== null");
    let row = page.text("document.querySelector('#drilldown .checks tr.disturbed').textContent");
    assert!(row.starts_with("1 disturbed") && row.contains("20%"), "{row}");
    assert!(
        page.text("document.querySelector('#drilldown .chips label.disturbed').textContent")
            .contains("disturbed")
    );
    page.eval("document.querySelector('#drilldown .checks').scrollIntoView()");
    page.keep_picture("disturbed", false);
    assert!(
        page.text("document.querySelector('#trial-warnings').textContent")
            .contains("update at 2 clients · wal")
    );
    finish(&mut page);
}

#[dyno_test(with_browser)]
fn the_keyboard_reaches_every_cell(browser: &mut Browser) {
    let (_bench, address) = report("wal");
    let mut page = browser.open(&address, 1280, 900, Scheme::Light);
    ready(&mut page);
    page.eval("document.querySelector('[data-matrix=absolute] td a').focus()");
    page.press("ArrowDown");
    page.press("ArrowRight");
    let focused = page.text("document.activeElement.hash");
    assert_eq!(focused, "#cell=point-query/wal/1");
    page.eval("document.activeElement.click()");
    page.wait_until("document.querySelector('#drilldown').open");
    page.press("j");
    page.wait_until("document.querySelector('#drilldown h2')?.textContent === 'update · wal'");
    page.press("Escape");
    page.wait_until("document.activeElement.hash === '#cell=point-query/wal/1'");
    finish(&mut page);
}

#[dyno_test(with_browser)]
fn hostile_names_are_shown_and_not_run(browser: &mut Browser) {
    let (bench, address) = report(HOSTILE);
    assert!(!fs::read_to_string(bench.path("tiny-1.html")).unwrap().contains("<img"));
    let mut page = browser.open(&address, 1280, 900, Scheme::Light);
    ready(&mut page);
    let system = format!("document.querySelectorAll('th[data-system]')[1].dataset.system === {HOSTILE:?}");
    assert_eq!(page.eval(&system), true);
    page.eval("document.querySelectorAll('[data-matrix=absolute] tbody tr:last-child td a')[1].click()");
    page.wait_until("document.querySelector('#drilldown').open");
    assert!(page.text("document.querySelector('#drilldown h2').textContent").ends_with(HOSTILE));
    assert_eq!(page.eval("document.images.length"), 0);
    finish(&mut page);
}

#[dyno_test(with_browser)]
fn nothing_is_wider_than_a_phone(browser: &mut Browser) {
    let (_bench, address) = report("wal");
    for (scheme, name) in [(Scheme::Light, "phone-light"), (Scheme::Dark, "phone-dark")] {
        let mut page = browser.open(&address, 390, 844, scheme);
        ready(&mut page);
        assert_eq!(page.eval("document.documentElement.scrollWidth"), 390, "{name}");
        page.keep_picture(name, true);
        page.eval("document.querySelector(`[data-matrix=absolute] a[href='#cell=update/wal/1']`).click()");
        page.wait_until("document.querySelectorAll('#drilldown .uplot canvas').length >= 3");
        page.keep_picture(&format!("{name}-drilldown"), false);
        finish(&mut page);
    }
}

#[dyno_test(with_browser)]
fn a_served_page_shows_a_run_advance(browser: &mut Browser) {
    let bench = Bench::new();
    let plan = crate::bench::sqlite_plan(0.4)
        .replacen("seconds = 0.1", "seconds = 8.0", 1)
        .replace("slice_seconds = 0.03", "slice_seconds = 0.1");
    bench.write("plan.toml", &plan);
    let run = bench.start_until(&["run", "plan.toml", "--rounds", "1"], 2);
    let served = Served::start(&bench);
    let mut page = browser.open(&served.address, 1280, 900, Scheme::Light);
    assert_eq!(page.text("document.querySelector('.badge').textContent"), "running");
    let mut page = browser.open(&format!("{}run/1", served.address), 1280, 900, Scheme::Light);
    page.wait_until("document.querySelector('#live .doing')?.textContent.startsWith('point-query ·')");
    page.wait_until("document.querySelectorAll('#live .rates canvas, #live .latencies canvas').length === 2");
    page.wait_until("/^p50 .* · p95 .* · p99 /.test(document.querySelector('#live .latency').textContent)");
    let next = page
        .text("[...document.querySelectorAll('#live .next li')].map((trial) => trial.textContent).join()");
    assert!(!next.is_empty() && next.split(',').all(|trial| trial.starts_with("update · ")), "{next}");
    page.keep_picture("live", false);
    let before = page.text("document.querySelector('#live .left').textContent");
    // The live page reloads when a trial has ended.
    page.wait_until(&format!(
        "(document.querySelector('#live .left')?.textContent ?? {before:?}).slice(0, 8) !== {:?}",
        &before[..8]
    ));
    crate::bench::finish(run).with(0);
    page.wait_until(
        "!document.querySelector('#live') && document.documentElement.hasAttribute('data-ready')",
    );
    let (shown, measured) =
        (cell(&mut page, "absolute", "point-query", "wal", 1), rates(&bench, "point-query", "wal"));
    assert!(is_near(&shown, measured), "{shown} is not {measured}");
    assert_eq!(page.complaints(), [""; 0]);
    assert!(
        page.requests().iter().all(|address| address.starts_with(&served.address)),
        "{:?}",
        page.requests()
    );
    assert!(!bench.path("dyno.db-live.json").exists(), "the run is over");
}

/// The rate of a system in a step, from the results file of a run with one round.
fn rates(bench: &Bench, step: &str, system: &str) -> f64 {
    let sql = format!(
        "SELECT avg(operations / seconds) FROM trial WHERE step_id = '{step}' AND system_id = '{system}'"
    );
    bench.value(&sql).unwrap()
}

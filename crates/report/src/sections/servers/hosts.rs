//! The hosts among which a run's rounds were divided: the results of each host, and whether the results of the hosts
//! agree.

use dyno_judge::{Host, HostTest, Hosts};

use crate::document::{Line, Section, Shown, Table};
use crate::model::Reports;
use crate::wording::number::{self, counted};

/// Largest number of lost attempts that are listed.
const LOST_MAX: usize = 20;

/// The section, with the rounds of each host and a table of ratios for each candidate. `None` for a run on one
/// host.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    let hosts = reports.hosts.as_ref()?;
    let alpha = number::percent(reports.rule.alpha);
    let mut tables = vec![delivered(hosts)];
    tables.extend(hosts.tests.chunk_by(|a, b| a.system == b.system).map(|tests| ratios(hosts, tests)));
    Some(Section {
        title: "Hosts".to_owned(),
        paragraphs: vec![
            "Each round ran on one host, with all systems. The table shows throughput as a multiple of the base's on each \
             host: the mean of its rounds."
                .to_owned(),
            format!(
                "p: the probability of differences this large if hosts were alike, corrected for the number of tests. Hosts \
                 disagree (≠) if p is at most {alpha}. Other hosts may then have other ratios."
            ),
        ],
        items: items(hosts),
        tables,
        ..Section::default()
    })
}

/// Lines on how hosts differ from the first host, and on lost attempts.
fn items(hosts: &Hosts) -> Vec<String> {
    let first = hosts.hosts.first().map(|host| host.name.as_str()).unwrap_or_default();
    let unlike = hosts.hosts.iter().filter(|host| !host.differences.is_empty());
    let unlike =
        unlike.map(|host| format!("{} differs from {first}: {}.", host.name, host.differences.join("; ")));
    let lost = hosts.lost.iter().take(LOST_MAX).map(|lost| {
        let on = lost.host.as_ref().map(|host| format!(" on {host}")).unwrap_or_default();
        format!("An attempt at round {}{on} was lost: {}.", lost.round + 1, lost.reason)
    });
    let more = hosts.lost.len().checked_sub(LOST_MAX).filter(|more| *more > 0);
    unlike.chain(lost).chain(more.map(|more| format!("{more} more attempts were lost."))).collect()
}

fn delivered(hosts: &Hosts) -> Table {
    let line = |host: &Host| {
        let lost = hosts.lost.iter().filter(|lost| lost.host.as_ref() == Some(&host.name)).count();
        Line::plain(&host.name, [host.rounds.to_string(), lost.to_string()])
    };
    Table::plain("", &["rounds", "lost"], hosts.hosts.iter().map(line).collect())
}

/// A table of a candidate's ratios on each host.
fn ratios(hosts: &Hosts, tests: &[HostTest]) -> Table {
    let heads: Vec<&str> =
        hosts.hosts.iter().map(|host| host.name.as_str()).chain(["between", "p"]).collect();
    let line = |test: &HostTest| {
        let name = format!("{} at {}", test.step, counted(u64::from(test.clients), "client"));
        Line::of(name, cells(hosts, test))
    };
    let system = tests.first().map_or("", |test| &test.system);
    Table::plain(system, &heads, tests.iter().map(line).collect())
}

fn cells(hosts: &Hosts, test: &HostTest) -> Vec<Shown> {
    let dash = || "–".to_owned();
    let of_hosts = hosts.hosts.iter().zip(&test.ratios).map(|(host, found)| {
        let is_odd = test.odd.as_ref() == Some(&host.name);
        Shown {
            text: found.ratio.map_or_else(dash, number::ratio),
            note: if is_odd { " ≠".to_owned() } else { String::new() },
            tint: None,
        }
    });
    let between =
        Shown::plain(test.between_hosts.map_or_else(dash, |spread| format!("±{}", number::percent(spread))));
    let p = Shown {
        text: test.p_adjusted.map_or_else(dash, p_in_words),
        note: if test.disagree { " ≠".to_owned() } else { String::new() },
        tint: None,
    };
    of_hosts.chain([between, p]).collect()
}

fn p_in_words(p: f64) -> String {
    if p < 0.0005 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::assert_golden;
    use crate::sample::{self, reports};
    use crate::{Format, RenderOptions, render};

    #[test]
    fn a_run_on_one_host_has_no_section() {
        assert!(section(&reports(&sample::run(3))).is_none());
    }

    #[test]
    fn hosts_read_as_people_expect() {
        let reports = reports(&sample::spread_run());
        let text = render(&reports, Format::Text, &RenderOptions { color: false, width: 120 });
        let start = text.find("\nHosts\n").unwrap() + 1;
        let end = text[start..].find("\n\n\n").map_or(text.len(), |at| start + at);
        assert_golden("hosts.txt", &text[start..end]);
    }
}

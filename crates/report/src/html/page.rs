//! The page: all sections in order.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::assets;
use super::drill_down::data;
use super::parts::contents::Page;
use super::parts::verdicts::{banner, claims, forest, undecided, verdict, why};
use super::parts::{eventful, joined, matrix, methods, money, scaling, stacks, views};
use super::shell::brand;
use crate::format::html::section;
use crate::model::Reports;
use crate::sections::{SECTIONS, SectionKind, efficiency};
use crate::wording::in_force;
use crate::wording::number;
use crate::wording::phrases;

impl Page<'_> {
    pub(crate) fn document(&self) -> Markup {
        let title = phrases::title(&self.reports.run);
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(assets::policy(self.input.is_live));
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="generator" content=(format!("Dyno {}", self.reports.run.dyno_version));
                    title { (title) }
                    style { (PreEscaped(assets::STYLE)) }
                }
                body {
                    a.skip href="#relative" { "Skip to the matrices" }
                    (self.header())
                    main {
                        @if self.input.is_live { (live(&self.reports)) }
                        (self.verdict())
                        (forest::section(&self.reports))
                        @for part in &SECTIONS { (self.part(part)) }
                        (methods::section(self.input.run, &self.reports))
                        (self.footnotes())
                    }
                    footer { "Made by Dyno " (self.reports.run.dyno_version) " from run " (self.reports.run.id) ". This file is complete and loads nothing from a network." }
                    dialog #drilldown aria-labelledby="drilldown-title" {}
                    (data::scripts(self))
                    script { (PreEscaped(assets::SCRIPT)) }
                }
            }
        }
    }

    /// A section of the page. Tables and sentences are made here. Most sections with other content have a module of
    /// their own.
    fn part(&self, part: &SectionKind) -> Markup {
        let (run, reports) = (self.input.run, &self.reports);
        let plain =
            || html! { @if let Some(found) = (part.of)(reports) { (section(Some(part.id), &found)) } };
        match part.id {
            "why" => html! { (why::section(reports)) (banner::section(run)) },
            "absolute" => html! { (self.controls()) div.matrices { (self.matrices()) } },
            "relative" | "efficiency" => html! {},
            "joined" => joined::section(reports),
            "events" => eventful::section(reports),
            "claims" => claims::section(&reports.claims),
            "scaling" => scaling::section(reports, self.input.curves),
            "frontier" => html! { (money::section(run, reports)) (plain()) },
            "stacks" => html! { (plain()) (stacks::section(run, reports)) },
            "undecided" => undecided::section(reports),
            _ => plain(),
        }
    }

    fn header(&self) -> Markup {
        let run = &self.reports.run;
        let title = if run.title.is_empty() { &run.plan } else { &run.title };
        html! {
            header.top {
                (brand(self.input.is_live))
                button #theme type="button" aria-label="Switch between light and dark" hidden { "◐" }
            }
            div.title {
                h1 { (title) }
                p.lead { "plan " b { (run.plan) } " · run " (run.id) " · " (phrases::run(run)) }
                p.lead { (phrases::host(run)) }
                @if let Some(incomplete) = phrases::incomplete(run) {
                    p class=(if run.is_going_on() { "lead" } else { "note" }) { (incomplete) }
                }
            }
        }
    }

    fn verdict(&self) -> Markup {
        html! {
            section #verdict {
                h2 { "Verdict" }
                @for sentence in in_force::sentences(&self.reports.not_in_force) { p.note { (sentence) } }
                @for sentence in &self.reports.evidence { p.evidence { (sentence) } }
                @for reports in &self.by_base { (verdict::cards(reports, self.is_own_base(reports))) }
            }
        }
    }

    fn is_own_base(&self, other: &Reports) -> bool {
        phrases::base_id(other) == phrases::base_id(&self.reports)
    }

    fn controls(&self) -> Markup {
        let groups = unique(self.reports.absolute.rows.iter().map(|row| row.group.as_str()));
        html! {
            form #controls.controls aria-label="What the matrices show" hidden {
                label { span { "base" } select name="base" {
                    @for system in &self.reports.systems {
                        option value=(system.id) selected[system.is_base] { (system.id) }
                    }
                } }
                @if self.reports.client_counts.len() > 1 {
                    label { span { "clients" } select name="clients" {
                        option value="" { "all" }
                        @for clients in &self.reports.client_counts { option value=(clients) { (clients) } }
                    } }
                }
                @if groups.len() > 1 {
                    label { span { "group" } select name="group" {
                        option value="" { "all" }
                        @for group in &groups { option value=(group) { (group) } }
                    } }
                }
                @if self.costs.len() > 1 {
                    label { span { "cost" } select name="cost" {
                        @for (at, cost) in self.costs.iter().enumerate() {
                            option value=(at) { (efficiency::title(*cost)) }
                        }
                    } }
                }
                span.key aria-hidden="true" {
                    "worse"
                    @for tint in (-views::STRENGTH_MAX..=views::STRENGTH_MAX).filter(|tint| *tint != 0) { i data-tint=(tint) {} }
                    "better"
                }
            }
        }
    }

    fn matrices(&self) -> Markup {
        let reports = &self.reports;
        let base = phrases::base_id(reports);
        html! {
            section #absolute {
                h2 { "Absolute: operations per second" }
                p.how { "Median of the rounds. Open a cell for its rounds, seconds, latencies and counters." }
                (matrix::table(self, "absolute", "Operations per second by test, client count and system", &reports.absolute, &views::absolute(reports)))
            }
            section #relative {
                h2 { "Relative: throughput against " span data-base-name { (base) } }
                p.how { "As a multiple of the base’s, " (phrases::ratio_kind(reports)) "; above 1 is faster. "
                    @if let Some(note) = phrases::interval_note(reports) { (note.replace("In brackets", "Small")) " " }
                    "Only cells with a verdict are tinted; = the same within " (number::margin(&reports.rule)) ", ? not decided, · not judged, ! failed where the base did not, ⚠ suspect. Hover over a cell, or open it, for the reason and for what would decide." }
                (matrix::table(self, "relative", "Throughput as a multiple of the base's by test, client count and system", &reports.relative, &views::relative(reports)))
            }
            @if let Some(cost) = self.costs.first() {
                section #efficiency {
                    h2 { "Efficiency: " span data-cost-name { (efficiency::title(*cost)) } }
                    p.how { "Median of the rounds; small: as a multiple of the base’s. Above 1 costs more. Costs have no verdict, so they have no tint."
                        @if efficiency::has_ratios_of_rounds(reports) { " " (phrases::OF_ROUNDS_NOTE) }
                        @if let Some(note) = phrases::in_process_note(reports) { " " (note) } }
                    (matrix::table(self, "efficiency", "Cost of an operation by test, client count and system", &reports.efficiency, &views::cost(reports, *cost)))
                }
            }
        }
    }

    fn footnotes(&self) -> Markup {
        html! {
            @if !self.reports.footnotes.is_empty() {
                section #failures {
                    h2 { "Failures" }
                    @for note in &self.reports.footnotes { p { (phrases::footnote(note)) } }
                }
            }
        }
    }
}

/// The element in which the script shows the progress of a run, and the tests that are already decided.
fn live(reports: &Reports) -> Markup {
    html! {
        section.live #live aria-label="The run in progress" {
            p.doing { "waiting for the run" }
            p.left {}
            @for verdict in &reports.verdicts { p.decided { (verdict::so_far(verdict)) } }
            p.rate {}
            p.latency {}
            progress max="1" value="0" aria-label="Trials that have ended" {}
            div.plot.rates hidden {}
            div.plot.latencies hidden {}
            div.after hidden { p { "Next" } ol.next {} }
        }
    }
}

fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut unique = Vec::new();
    for name in names {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    unique
}

//! The sections of the report on an upgrade.

use dyno_judge::{DigestFigures, DigestSet, DigestTest, SettingDifference};

use crate::document::{Column, Line, Listing, Section, Shown, Table};
use crate::model::upgrade::UpgradeReport;
use crate::wording::number::{self, counted};
use crate::wording::words;

/// Largest number of digests that a table shows. The JSON format has all of them.
const SHOWN_MAX: usize = 50;
/// Largest number of statements whose plans are shown.
const PLANS_MAX: usize = 8;
/// Largest number of settings in the list of settings without a description. The list has only names.
const NAMES_MAX: usize = 40;

impl UpgradeReport {
    /// All sections. The gravest findings come first.
    pub(super) fn sections(&self) -> Vec<Section> {
        let digests = self.found.as_ref().map(|found| {
            [
                self.slower(&found.slower),
                self.failed(&found.failed),
                self.otherwise(&found.answers_otherwise),
                self.plans(),
                self.digests("Faster digests", &found.faster),
                self.digests("Digests that are not decided", &found.not_decided),
            ]
        });
        let of_digests = digests.into_iter().flatten().flatten();
        [self.words_of_server()].into_iter().flatten().chain(of_digests).chain(self.settings()).collect()
    }

    /// The digests of a set, in the order of the set.
    fn of<'a>(&'a self, set: &'a DigestSet) -> impl Iterator<Item = &'a DigestTest> {
        let all = self.replay.as_ref().map_or(&[][..], |replay| &replay.digests);
        set.digests.iter().filter_map(|at| all.get(*at))
    }

    /// The section on slower digests, with the command that proves the cause.
    fn slower(&self, set: &DigestSet) -> Option<Section> {
        let mut section = self.digests("Slower digests", set)?;
        section.paragraphs.extend(self.proof.as_ref().map(|command| {
            format!(
                "`{command}` measures which of the settings that differ make the traffic slower. It replays the whole traffic, not \
                 single digests."
            )
        }));
        Some(section)
    }

    fn digests(&self, title: &str, set: &DigestSet) -> Option<Section> {
        let has_rows = self.of(set).flat_map(|digest| &digest.systems).any(|it| it.rows_examined.is_some());
        let mut columns = ["time", "before, ms", "after, ms", "multiple"].map(Column::of).to_vec();
        if has_rows {
            columns.extend(["rows read before", "rows read after"].map(Column::of));
        }
        columns.push(Column::of_words("statement"));
        let mut lines: Vec<Line> =
            self.of(set).take(SHOWN_MAX).map(|digest| self.line(digest, has_rows)).collect();
        if set.digests.len() > SHOWN_MAX {
            lines.push(Line::group(format!(
                "and {} more, which --format json has",
                set.digests.len() - SHOWN_MAX
            )));
        }
        let table = Table { head: "digest".to_owned(), ..Table::of(String::new(), columns, lines) };
        (!set.digests.is_empty()).then(|| Section {
            title: title.to_owned(),
            paragraphs: vec![format!(
                "Those that change the time of the traffic most first, with their share of the time on {}. Times are means from \
                 when a statement was sent until its answer, medians over rounds. Rows read are those of one example, counted after a \
                 replay.",
                self.from.id
            )],
            tables: vec![table],
            ..Section::default()
        })
    }

    fn line(&self, digest: &DigestTest, has_rows: bool) -> Line {
        let dash = || "–".to_owned();
        let ms = |system: &str| {
            let mean_us = figures(digest, system).and_then(|figures| figures.mean_us);
            mean_us.map_or_else(dash, |us| number::three_digits(us / 1e3))
        };
        let ratio = figures(digest, &self.to.id).and_then(|figures| figures.against_base);
        let shown = match ratio {
            Some(found) => Shown {
                tint: words::tint(found.finding),
                note: format!(" {}", words::mark(found.finding)),
                ..Shown::plain(found.ratio.map_or_else(dash, |ratio| words::ratio_in(ratio, found.interval)))
            },
            None => Shown::plain(dash()),
        };
        let mut cells = vec![
            Shown::plain(digest.time_share.map_or_else(dash, number::percent)),
            Shown::plain(ms(&self.from.id)),
            Shown::plain(ms(&self.to.id)),
            shown,
        ];
        if has_rows {
            let rows = |system: &str| figures(digest, system).and_then(|figures| figures.rows_examined);
            let shown = |system: &str| rows(system).map_or_else(dash, |rows| rows.to_string());
            cells.extend([&self.from.id, &self.to.id].map(|system| Shown::plain(shown(system))));
        }
        cells.push(Shown::plain(&digest.statement));
        Line::of(digest.digest.chars().take(8).collect::<String>(), cells)
    }

    fn failed(&self, set: &DigestSet) -> Option<Section> {
        let line = |digest: &DigestTest| {
            let figures = figures(digest, &self.to.id);
            let errors = figures.map(|figures| words::error_codes(&figures.error_codes)).unwrap_or_default();
            let statements = figures.map_or(0, |figures| figures.statements);
            format!("error {errors} in {}: {}", counted(statements, "statement"), digest.statement)
        };
        self.list(
            "Digests that fail",
            "Errors that the version before never has, by the server's code, in all rounds.",
            set,
            line,
        )
    }

    fn otherwise(&self, set: &DigestSet) -> Option<Section> {
        let line = |digest: &DigestTest| {
            let rows = |system: &str| figures(digest, system).map_or(0, |figures| figures.rows);
            let (before, after) = (rows(&self.from.id), rows(&self.to.id));
            let what = if before == after {
                format!("other values in {}", counted(after, "row"))
            } else {
                format!("{} rather than {before}", counted(after, "row"))
            };
            format!("{what}: {}", digest.statement)
        };
        let about = "The version before gives the same rows in every round, and the version after other rows in every round. The \
                     order of rows does not matter.";
        self.list("Digests that answer otherwise", about, set, line)
    }

    fn list(
        &self,
        title: &str,
        about: &str,
        set: &DigestSet,
        line: impl Fn(&DigestTest) -> String,
    ) -> Option<Section> {
        let mut items: Vec<String> = self.of(set).take(SHOWN_MAX).map(line).collect();
        if set.digests.len() > SHOWN_MAX {
            items.push(format!("and {} more, which --format json has", set.digests.len() - SHOWN_MAX));
        }
        (!items.is_empty()).then(|| Section {
            title: title.to_owned(),
            paragraphs: vec![about.to_owned()],
            items,
            ..Section::default()
        })
    }

    /// The section with the plans of slower digests.
    fn plans(&self) -> Option<Section> {
        let listing = |plans: &crate::model::upgrade::DigestPlans| Listing {
            title: plans.statement.clone(),
            texts: vec![(self.from.id.clone(), plans.from.clone()), (self.to.id.clone(), plans.to.clone())],
        };
        (!self.plans.is_empty()).then(|| Section {
            title: "Plans of slower digests".to_owned(),
            paragraphs: vec![format!(
                "The servers' plans for an example of each digest whose plan differs: {}; square brackets hold the servers' \
                 estimates.",
                counted(self.plans.len() as u64, "digest")
            )],
            listings: self.plans.iter().take(PLANS_MAX).map(listing).collect(),
            ..Section::default()
        })
    }

    fn words_of_server(&self) -> Option<Section> {
        let refusal = self.refusal.as_ref().filter(|refusal| !refusal.log.is_empty())?;
        Some(Section {
            title: "What the server said".to_owned(),
            items: refusal.log.clone(),
            ..Section::default()
        })
    }

    /// The section on settings that only one of the two versions has, or that have another value after the upgrade.
    fn settings(&self) -> Option<Section> {
        let (known, others): (Vec<_>, Vec<_>) =
            self.settings.iter().partition(|setting| setting.about.is_some());
        let line = |setting: &&SettingDifference| {
            let about = setting.about.as_ref().map(|about| format!(": {about}")).unwrap_or_default();
            format!("{}{about}", change(setting))
        };
        let of = |is_it: &dyn Fn(&SettingDifference) -> bool, what: &str| {
            let names: Vec<&str> = others.iter().filter(|it| is_it(it)).map(|it| it.name.as_str()).collect();
            let shown = names[..names.len().min(NAMES_MAX)].join(", ");
            let more = names.len().saturating_sub(NAMES_MAX);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            (!names.is_empty()).then(|| format!("{} {what}: {shown}{more}", names.len()))
        };
        let rest = [
            of(&|it| it.candidate.is_none(), "are gone"),
            of(&|it| it.base.is_none(), "are new"),
            of(&|it| it.base.is_some() && it.candidate.is_some(), "have another value"),
        ];
        (!self.settings.is_empty()).then(|| Section {
            title: "Settings".to_owned(),
            paragraphs: vec![format!(
                "Settings of the servers that are gone after the upgrade, are new, or have another value, defaults included. {} \
                 known to matter.",
                match known.len() {
                    1 => "1 is".to_owned(),
                    number => format!("{number} are"),
                }
            )],
            items: known.iter().map(line).collect(),
            more_items: rest.into_iter().flatten().collect(),
            ..Section::default()
        })
    }
}

/// A digest's figures on a system.
fn figures<'a>(digest: &'a DigestTest, system: &str) -> Option<&'a DigestFigures> {
    digest.systems.iter().find(|figures| figures.system == system)
}

/// A setting before and after the upgrade: `query_cache_type ON → gone`
fn change(setting: &SettingDifference) -> String {
    let value = |value: &Option<String>, none: &str| match value.as_deref() {
        Some("") => "(empty)".to_owned(),
        Some(value) => value.to_owned(),
        None => none.to_owned(),
    };
    format!("{} {} → {}", setting.name, value(&setting.base, "missing"), value(&setting.candidate, "gone"))
}

//! The reports as Markdown, for a page on GitHub or similar.

use dyno_printable::{is_unprintable, printable_lines};

use crate::model::Reports;
use crate::model::claims;
use crate::sections::section::Section;
use crate::sections::table::{Column, Line, Shown, Table};
use crate::sections::tables::sections;
use crate::wording::in_force;
use crate::wording::number::counted;
use crate::wording::phrases;

/// Largest width of a table in characters. Wider tables are split by client count. It is about the width that GitHub
/// shows without scrolling.
const WIDTH_MAX: usize = 110;

/// Writes the reports as Markdown.
pub(crate) fn render(reports: &Reports) -> String {
    let mut blocks = header(reports);
    for section in sections(reports) {
        blocks.extend(self::section(&section));
    }
    if !reports.claims.is_empty() {
        blocks.extend([
            format!("## {}", claims::TITLE),
            claims::summary(&reports.claims),
            table(&claims::table(&reports.claims)),
        ]);
    }
    for note in &reports.footnotes {
        blocks.push(escaped(&phrases::footnote(note)));
    }
    blocks.join("\n\n") + "\n"
}

fn header(reports: &Reports) -> Vec<String> {
    let mut facts = Vec::new();
    for system in &reports.systems {
        facts.push(format!("- **{}**: {}", escaped(&system.id), escaped(&phrases::system(system))));
    }
    facts.push(format!("- host: {}", escaped(&phrases::host(&reports.run))));
    facts.push(format!("- run: {}", escaped(&phrases::run(&reports.run))));
    facts.extend(phrases::incomplete(&reports.run).map(|incomplete| format!("- {}", escaped(&incomplete))));
    facts.push(format!("- rounds: {}", escaped(&reports.evidence.join(" "))));
    let mut blocks = vec![format!("# {}", escaped(&phrases::title(&reports.run))), facts.join("\n")];
    let paragraphs = in_force::sentences(&reports.not_in_force);
    let paragraphs = paragraphs.iter().chain(&reports.not_comparable).chain(&reports.summary);
    blocks.extend(paragraphs.map(|paragraph| escaped(paragraph)));
    blocks
}

pub(crate) fn section(section: &Section) -> Vec<String> {
    let mut blocks = vec![format!("## {}", section.title), escaped(&section.how_to_read.join(" "))];
    if !section.items.is_empty() {
        let more = (!section.more_items.is_empty()).then(|| phrases::more_items(section.more_items.len()));
        let items = section.items.iter().chain(&more).map(|item| format!("- {}", escaped(item)));
        blocks.push(items.collect::<Vec<_>>().join("\n"));
    }
    for table in &section.tables {
        if !table.title.is_empty() {
            blocks.push(format!("### {}", escaped(&table.title)));
        }
        blocks.extend(table.printable().fitting(WIDTH_MAX).iter().map(self::table));
    }
    for listing in &section.listings {
        blocks.push(format!("### {}", escaped(&listing.title)));
        for (whose, text) in &listing.texts {
            blocks.extend([format!("{}:", escaped(whose)), fenced(&printable_lines(text))]);
        }
    }
    blocks
}

/// A block of code. Its fence is longer than any within.
fn fenced(text: &str) -> String {
    let runs = text.split(|character| character != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}

fn table(table: &Table) -> String {
    let labels: &[&str] = if table.shows_operations { &["", "operation"] } else { &[""] };
    let head = labels.iter().map(|label| (*label).to_owned()).chain(table.columns.iter().map(column_head));
    let rule = labels.iter().map(|_| "---".to_owned()).chain(table.columns.iter().map(|_| "---:".to_owned()));
    let mut rows = vec![row(head), row(rule)];
    for line in &table.lines {
        rows.push(match line {
            Line::Group(name) => {
                let blanks = vec![String::new(); labels.len() - 1 + table.columns.len()];
                row(std::iter::once(format!("**{}**", escaped(name))).chain(blanks))
            }
            Line::Test { name, operation, cells } => {
                let labels = [escaped(name), escaped(operation)].into_iter().take(labels.len());
                row(labels.chain(cells.iter().map(cell)))
            }
        });
    }
    rows.join("\n")
}

fn column_head(column: &Column) -> String {
    let clients = column.clients.map(|clients| format!("<br>{}", counted(u64::from(clients), "client")));
    escaped(&column.system) + &clients.unwrap_or_default()
}

/// Bold for a verdict with a tint, because Markdown has no colours.
fn cell(shown: &Shown) -> String {
    // The brackets of an interval need no escapes, and are easier to read without.
    let is_figure = shown.text.chars().all(|it| it.is_ascii_digit() || "[]., ".contains(it));
    let text = if is_figure { shown.text.clone() } else { escaped(&shown.text) };
    let text = if shown.tint.is_some() { format!("**{text}**") } else { text };
    text + &escaped(&shown.note)
}

fn row(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
}

/// Escapes text so that no part of it is read as Markdown or HTML, and all of it is seen.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '$' => out.extend(['\\', character]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\n' => out.push(' '),
            unseen if is_unprintable(unseen) => {
                out.push('\\');
                out.extend(unseen.escape_default());
            }
            character => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::assert_golden;
    use crate::sample::{self, reports};

    #[test]
    fn reads_as_people_expect() {
        assert_golden("markdown.md", &render(&reports(&sample::eventful_run())));
    }

    #[test]
    fn every_row_of_a_table_has_as_many_cells() {
        let markdown = render(&reports(&sample::eventful_run()));
        let tables: Vec<&str> = markdown.split("\n\n").filter(|block| block.starts_with('|')).collect();
        assert!(tables.len() > 5);
        for table in tables {
            let mut cells = table.lines().map(|line| line.matches('|').count());
            let of_head = cells.next();
            assert!(cells.all(|cells| Some(cells) == of_head), "{table}");
        }
    }

    #[test]
    fn names_and_messages_are_not_taken_for_markdown() {
        let mut run = sample::run(1);
        run.record.plan_title = "a_b*c <script> | d".to_owned();
        let markdown = render(&reports(&run));
        assert!(
            markdown.starts_with(r"# a\_b\*c &lt;script&gt; \| d (plan first-look, run 3)"),
            "{markdown}"
        );
    }
}

//! Documents as Markdown, for a page on GitHub or similar.

use dyno_printable::{is_unprintable, printable_lines};

use crate::document::{Column, Document, Fact, Line, Section, Shown, Table};
use crate::wording::number::counted;
use crate::wording::phrases;

/// Largest width of a table, in characters: about the width that GitHub shows without scrolling. Wider tables are
/// split by client count.
const WIDTH_MAX: usize = 110;

/// Writes documents as Markdown.
pub(crate) fn render(documents: &[Document]) -> String {
    render_within(documents, WIDTH_MAX)
}

/// Writes documents as Markdown whose tables are at most `width_max` characters wide.
pub(crate) fn render_within(documents: &[Document], width_max: usize) -> String {
    let blocks = documents.iter().flat_map(|document| blocks(document, width_max));
    blocks.collect::<Vec<_>>().join("\n\n") + "\n"
}

fn blocks(document: &Document, width_max: usize) -> Vec<String> {
    let mut blocks = Vec::new();
    if !document.title.is_empty() {
        blocks.push(format!("# {}", escaped(&document.title)));
    }
    if !document.facts.is_empty() {
        blocks.push(document.facts.iter().map(fact).collect::<Vec<_>>().join("\n"));
    }
    blocks.extend(document.paragraphs.iter().map(|paragraph| escaped(paragraph)));
    blocks.extend(document.code.iter().map(|code| fenced(code.language, &code.text)));
    blocks.extend(document.sections.iter().flat_map(|it| section(it, width_max)));
    blocks.extend(document.notes.iter().map(|note| escaped(note)));
    blocks
}

fn fact(Fact { label, text }: &Fact) -> String {
    let label = if label.is_empty() { String::new() } else { format!("**{}**: ", escaped(label)) };
    format!("- {label}{}", escaped(text))
}

fn section(section: &Section, width_max: usize) -> Vec<String> {
    let mut blocks = vec![format!("## {}", escaped(&section.title))];
    if !section.paragraphs.is_empty() {
        blocks.push(escaped(&section.paragraphs.join(" ")));
    }
    if !section.items.is_empty() {
        let more = (!section.more_items.is_empty()).then(|| phrases::more_items(section.more_items.len()));
        let items = section.items.iter().chain(&more).map(|item| format!("- {}", escaped(item)));
        blocks.push(items.collect::<Vec<_>>().join("\n"));
    }
    for table in &section.tables {
        if !table.title.is_empty() {
            blocks.push(format!("### {}", escaped(&table.title)));
        }
        blocks.extend(table.printable().fitting(width_max).iter().map(self::table));
    }
    for listing in &section.listings {
        blocks.push(format!("### {}", escaped(&listing.title)));
        for (whose, text) in &listing.texts {
            blocks.extend([format!("{}:", escaped(whose)), fenced("", text)]);
        }
    }
    blocks
}

/// A block of code. Its fence is longer than any fence in the text.
fn fenced(language: &str, text: &str) -> String {
    let text = printable_lines(text.trim_end());
    let runs = text.split(|character| character != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

fn table(table: &Table) -> String {
    let labels = if table.shows_operations { vec![&*table.head, "operation"] } else { vec![&*table.head] };
    let head = labels.iter().map(|label| escaped(label)).chain(table.columns.iter().map(column_head));
    let alignment = |column: &Column| if column.is_words { "---" } else { "---:" }.to_owned();
    let rule = labels.iter().map(|_| "---".to_owned()).chain(table.columns.iter().map(alignment));
    let mut rows = vec![row(head), row(rule)];
    for line in &table.lines {
        rows.push(match line {
            Line::Group { name, cells } => {
                let labels = [format!("**{}**", escaped(name)), String::new()].into_iter().take(labels.len());
                let blanks = vec![String::new(); table.columns.len() - cells.len()];
                row(labels.chain(cells.iter().map(cell)).chain(blanks))
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

/// A cell's text. A verdict with a tint is bold, because Markdown has no colours.
fn cell(shown: &Shown) -> String {
    // An interval's brackets need no escapes, and are easier to read without escapes.
    let is_figure = shown.text.chars().all(|it| it.is_ascii_digit() || "[]., ".contains(it));
    let text = if is_figure { shown.text.clone() } else { escaped(&shown.text) };
    let text = if shown.tint.is_some() { format!("**{text}**") } else { text };
    text + &escaped(&shown.note)
}

fn row(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
}

/// Escapes text, so that Markdown and HTML show all of it literally.
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
    use crate::golden::assert_golden;
    use crate::sample::{self, reports};
    use crate::{Format, RenderOptions};

    fn markdown(run: &dyno_store::Run) -> String {
        crate::render(&reports(run), Format::Markdown, &RenderOptions::default())
    }

    #[test]
    fn reads_as_people_expect() {
        assert_golden("markdown.md", &markdown(&sample::eventful_run()));
    }

    #[test]
    fn every_row_of_a_table_has_as_many_cells() {
        let markdown = markdown(&sample::eventful_run());
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
        let markdown = markdown(&run);
        assert!(
            markdown.starts_with(r"# a\_b\*c &lt;script&gt; \| d (plan first-look, run 3)"),
            "{markdown}"
        );
    }
}

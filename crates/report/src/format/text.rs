//! Documents for a terminal.

use dyno_printable::{printable, printable_lines};
use unicode_width::UnicodeWidthStr;

use crate::document::table::{COLUMN_GAP, GROUP_GAP, TEST_INDENT, Widths};
use crate::document::{Document, Fact, Line, Listing, Section, Shown, Table, Tint};
use crate::wording::phrases;

/// Options of the text format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderOptions {
    /// Whether cells are tinted with terminal colours.
    pub color: bool,
    /// Largest width of a line, in columns.
    pub width: usize,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self { color: false, width: 100 }
    }
}

/// Writes documents as text.
pub(crate) fn render(documents: &[Document], options: &RenderOptions) -> String {
    let mut out = Lines::new(options);
    for (at, document) in documents.iter().enumerate() {
        if at > 0 {
            out.line("");
            out.line("");
        }
        out.document(document);
    }
    out.text
}

/// Text that grows line by line. Each line is escaped before it gets a style, so it stays one line and contains no
/// control characters.
pub(crate) struct Lines<'a> {
    pub(crate) text: String,
    options: &'a RenderOptions,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(options: &'a RenderOptions) -> Self {
        Self { text: String::new(), options }
    }

    pub(crate) fn line(&mut self, line: &str) {
        self.push(&printable(line));
    }

    /// Adds a line in bold.
    pub(crate) fn heading(&mut self, text: &str) {
        let styled = self.styled(&printable(text), "1");
        self.push(&styled);
    }

    /// Adds a line that has its styles already.
    fn push(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Adds a paragraph that is wrapped to the width of a line.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.labelled("", 0, text);
    }

    /// Adds a paragraph whose lines after the first are indented, so that a message in the paragraph cannot look like a
    /// separate line.
    fn hanging(&mut self, text: &str) {
        self.wrapped("", "    ", text);
    }

    /// Adds a paragraph with a label before its first line. Other lines are indented by the label's width.
    pub(crate) fn labelled(&mut self, label: &str, label_width: usize, text: &str) {
        let label = pad_right(&printable(label), label_width);
        self.wrapped(&label, &" ".repeat(label_width), text);
    }

    fn wrapped(&mut self, first_indent: &str, indent: &str, text: &str) {
        let layout = textwrap::Options::new(self.options.width)
            .initial_indent(first_indent)
            .subsequent_indent(indent)
            .word_splitter(textwrap::WordSplitter::NoHyphenation)
            .break_words(false);
        for line in textwrap::wrap(&printable(text), layout) {
            self.push(&line);
        }
    }

    fn document(&mut self, document: &Document) {
        if !document.title.is_empty() {
            self.heading(&document.title);
        }
        self.facts(&document.facts);
        for paragraph in &document.paragraphs {
            if !document.facts.is_empty() {
                self.line("");
            }
            self.paragraph(paragraph);
        }
        if let Some(code) = &document.code {
            self.line("");
            self.indented(&code.text);
        }
        for section in &document.sections {
            self.section(section);
        }
        if !document.notes.is_empty() {
            self.line("");
        }
        for note in &document.notes {
            self.hanging(note);
        }
    }

    fn facts(&mut self, facts: &[Fact]) {
        let label_width = facts.iter().map(|fact| printable(&fact.label).width()).max().unwrap_or(0) + 2;
        if !facts.is_empty() {
            self.line("");
        }
        for Fact { label, text } in facts {
            self.labelled(label, label_width, text);
        }
    }

    fn section(&mut self, section: &Section) {
        self.line("");
        self.line("");
        self.heading(&section.title);
        for paragraph in &section.paragraphs {
            self.paragraph(paragraph);
        }
        for item in &section.items {
            self.labelled("-", 2, item);
        }
        if !section.more_items.is_empty() {
            self.labelled("-", 2, &phrases::more_items(section.more_items.len()));
        }
        for table in &section.tables {
            for part in table.printable().fitting(self.options.width) {
                self.line("");
                self.table(&part);
            }
        }
        for listing in &section.listings {
            self.listing(listing);
        }
    }

    /// Adds the texts of a listing one below the other, because their lines are too long for texts side by side.
    fn listing(&mut self, listing: &Listing) {
        self.line("");
        self.line(&listing.title);
        for (whose, text) in &listing.texts {
            self.line(&format!("  {whose}:"));
            self.indented(text);
        }
    }

    /// Adds indented text with its line breaks.
    fn indented(&mut self, text: &str) {
        for line in text.lines() {
            self.push(&printable_lines(&format!("    {line}")));
        }
    }

    pub(crate) fn table(&mut self, table: &Table) {
        let layout = Layout::of(table);
        if !table.title.is_empty() {
            self.line(&table.title);
        }
        if table.columns.iter().any(|column| column.clients.is_some()) {
            self.push(&layout.clients_line());
        }
        let heads: Vec<Shown> = table.columns.iter().map(|column| Shown::plain(&*column.system)).collect();
        self.line(&layout.line(&table.head, "", &heads, |text, _| text.to_owned()));
        for line in &table.lines {
            let (name, operation, cells) = match line {
                Line::Group { name, cells } => (name.clone(), "", cells),
                Line::Test { name, operation, cells } => {
                    (format!("{}{name}", " ".repeat(TEST_INDENT)), operation.as_str(), cells)
                }
            };
            self.push(&layout.line(&name, operation, cells, |text, tint| self.tinted(text, tint)));
        }
    }

    /// Colours a text: cyan for better, yellow for worse. Colour-blind people can distinguish these two colours,
    /// unlike green and red.
    fn tinted(&self, text: &str, tint: Option<Tint>) -> String {
        match tint {
            Some(Tint::Better) => self.styled(text, "36"),
            Some(Tint::Worse) => self.styled(text, "33"),
            None => text.to_owned(),
        }
    }

    fn styled(&self, text: &str, style: &str) -> String {
        if self.options.color { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// A table with its column widths.
struct Layout<'a> {
    table: &'a Table,
    widths: Widths,
}

impl<'a> Layout<'a> {
    fn of(table: &'a Table) -> Self {
        Self { table, widths: table.widths() }
    }

    fn label(&self, name: &str, operation: &str) -> String {
        let name = pad_right(name, self.widths.name);
        if self.widths.operation == 0 {
            return name;
        }
        format!("{name}{}{}", " ".repeat(COLUMN_GAP), pad_right(operation, self.widths.operation))
    }

    fn line(
        &self,
        name: &str,
        operation: &str,
        cells: &[Shown],
        tinted: impl Fn(&str, Option<Tint>) -> String,
    ) -> String {
        let mut line = self.label(name, operation);
        for (at, (cell, width)) in cells.iter().zip(&self.widths.columns).enumerate() {
            let fill = " ".repeat(width.text.saturating_sub(cell.text.width()));
            let is_words = self.table.columns[at].is_words;
            let (before, after) = if is_words { ("", fill.as_str()) } else { (fill.as_str(), "") };
            line += &" ".repeat(self.gap_before(at));
            line += before;
            line += &tinted(&cell.text, cell.tint);
            line += after;
            line += &pad_right(&cell.note, width.note);
        }
        line
    }

    /// The client counts, each above its columns: `── 4 clients ──`.
    fn clients_line(&self) -> String {
        let mut line = self.label("", "");
        let mut start = 0;
        for group in self.table.column_groups() {
            let columns = start..start + group.len();
            line += &" ".repeat(self.gap_before(start));
            line += &centred(&group[0].clients_head(), self.widths.of_columns(columns));
            start += group.len();
        }
        line
    }

    fn gap_before(&self, column: usize) -> usize {
        let columns = &self.table.columns;
        let starts_group = column > 0 && columns[column - 1].clients != columns[column].clients;
        if starts_group { GROUP_GAP } else { COLUMN_GAP }
    }
}

/// Text centred in a line of `─`. The function pads the text itself, because a width above 65,535 in a format string
/// panics.
fn centred(text: &str, width: usize) -> String {
    let rest = width.saturating_sub(text.width());
    let before = rest / 2;
    format!("{}{text}{}", "─".repeat(before), "─".repeat(rest - before))
}

fn pad_right(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

#[cfg(test)]
mod tests;

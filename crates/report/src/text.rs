//! The reports for a terminal.

use unicode_width::UnicodeWidthStr;

use crate::RenderOptions;
use crate::model::Reports;
use crate::number::{counted, superscript};
use crate::phrases;
use crate::table::{COLUMN_GAP, Column, GROUP_GAP, Line, Shown, Table, Tint};
use crate::tables::{Section, sections};

/// Writes the reports as text.
pub(crate) fn render(reports: &Reports, options: &RenderOptions) -> String {
    let mut out = Lines { text: String::new(), options };
    out.header(reports);
    for section in sections(reports) {
        out.section(&section);
    }
    if !reports.footnotes.is_empty() {
        out.line("");
        for note in &reports.footnotes {
            out.labelled(&superscript(note.number), 2, &phrases::footnote(note));
        }
    }
    out.text
}

struct Lines<'a> {
    text: String,
    options: &'a RenderOptions,
}

impl Lines<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn paragraph(&mut self, text: &str) {
        self.labelled("", 0, text);
    }

    /// A paragraph beside its label.
    fn labelled(&mut self, label: &str, label_width: usize, text: &str) {
        let label = pad_right(label, label_width);
        let indent = " ".repeat(label_width);
        let layout = textwrap::Options::new(self.options.width)
            .initial_indent(&label)
            .subsequent_indent(&indent)
            .word_splitter(textwrap::WordSplitter::NoHyphenation)
            .break_words(false);
        textwrap::wrap(text, layout).iter().for_each(|line| self.line(line));
    }

    fn header(&mut self, reports: &Reports) {
        let title = phrases::title(&reports.run);
        self.line(&self.bold(&title));
        self.line("");
        let ids = reports.systems.iter().map(|system| system.id.width());
        let label_width = ids.chain(["host".len()]).max().unwrap_or(0) + 2;
        for system in &reports.systems {
            self.labelled(&system.id, label_width, &phrases::system(system));
        }
        self.labelled("host", label_width, &phrases::host(&reports.run));
        self.labelled("run", label_width, &phrases::run(&reports.run));
        if let Some(incomplete) = phrases::incomplete(&reports.run) {
            self.labelled("", label_width, &incomplete);
        }
        for paragraph in &reports.summary {
            self.line("");
            self.paragraph(paragraph);
        }
    }

    fn section(&mut self, section: &Section) {
        self.line("");
        self.line("");
        self.line(&self.bold(section.title));
        for paragraph in &section.how_to_read {
            self.paragraph(paragraph);
        }
        for table in &section.tables {
            for part in table.split(self.options.width) {
                self.line("");
                self.table(&part);
            }
        }
    }

    fn table(&mut self, table: &Table) {
        let widths = Widths::of(table);
        if !table.title.is_empty() {
            self.line(&table.title);
        }
        if table.columns.iter().any(|column| column.clients.is_some()) {
            self.line(&widths.clients_line(table));
        }
        let heads: Vec<Shown> = table.columns.iter().map(|column| Shown::plain(&*column.system)).collect();
        self.line(&widths.line("", "", &heads, |text, _| text));
        for line in &table.lines {
            match line {
                Line::Group(name) => self.line(name),
                Line::Test { name, operation, cells } => {
                    let name = format!("  {name}");
                    self.line(&widths.line(&name, operation, cells, |text, tint| self.tinted(text, tint)));
                }
            }
        }
    }

    fn bold(&self, text: &str) -> String {
        self.styled(text.to_owned(), "1")
    }

    /// Cyan is better and yellow is worse: told apart by the colour-blind too, unlike green and red.
    fn tinted(&self, text: String, tint: Option<Tint>) -> String {
        match tint {
            Some(Tint::Better) => self.styled(text, "36"),
            Some(Tint::Worse) => self.styled(text, "33"),
            None => text,
        }
    }

    fn styled(&self, text: String, style: &str) -> String {
        if self.options.color { format!("\x1b[{style}m{text}\x1b[0m") } else { text }
    }
}

/// How wide each part of a table's lines is.
struct Widths {
    name: usize,
    operation: usize,
    /// Each column with the gap before it.
    columns: Vec<(usize, usize)>,
}

impl Widths {
    fn of(table: &Table) -> Self {
        let (name, operation, widths) = table.widths();
        let starts_group = |at: usize| at > 0 && table.columns[at - 1].clients != table.columns[at].clients;
        let gap = |at| if starts_group(at) { GROUP_GAP } else { COLUMN_GAP };
        let columns = widths.into_iter().enumerate().map(|(at, width)| (gap(at), width)).collect();
        Self { name, operation, columns }
    }

    fn label(&self, name: &str, operation: &str) -> String {
        let name = pad_right(name, self.name);
        if self.operation == 0 { name } else { format!("{name}  {}", pad_right(operation, self.operation)) }
    }

    fn line(
        &self,
        name: &str,
        operation: &str,
        cells: &[Shown],
        tinted: impl Fn(String, Option<Tint>) -> String,
    ) -> String {
        let mut line = self.label(name, operation);
        for (cell, (gap, width)) in cells.iter().zip(&self.columns) {
            line += &" ".repeat(gap + width.saturating_sub(cell.text.width()));
            line += &tinted(cell.text.clone(), cell.tint);
        }
        line
    }

    /// The client counts, each over its columns: `── 4 clients ──`.
    fn clients_line(&self, table: &Table) -> String {
        let mut line = self.label("", "");
        let mut columns = self.columns.iter();
        for group in table.column_groups() {
            let columns: Vec<_> = columns.by_ref().take(group.len()).collect();
            let gap = columns.first().map_or(0, |(gap, _)| *gap);
            let width = columns.iter().map(|(gap, width)| gap + width).sum::<usize>() - gap;
            line += &" ".repeat(gap);
            line += &centred(&clients(&group[0]), width);
        }
        line
    }
}

fn clients(column: &Column) -> String {
    column.clients.map(|clients| counted(u64::from(clients), "client")).unwrap_or_default()
}

fn centred(text: &str, width: usize) -> String {
    format!("{:─^width$}", format!(" {text} "))
}

fn pad_right(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

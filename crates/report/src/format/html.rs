//! Documents as pages without a script, and sections for the page of a run.

use maud::{Markup, html};

use crate::document::{Column, Document, Fact, Line, Listing, Section, Shown, Table, Tint};
use crate::html::shell::plain_page;

/// Writes documents as one page.
pub(crate) fn render(documents: &[Document]) -> String {
    let title = documents.first().map_or("", Document::name);
    plain_page(title, &html! { main { @for it in documents { (document(it)) } } })
}

fn document(document: &Document) -> Markup {
    let Document { title, facts, paragraphs, code, sections, notes } = document;
    html! {
        @if !title.is_empty() { h1 { (title) } }
        @if !facts.is_empty() {
            dl.facts.wide { @for Fact { label, text } in facts { div { dt { (label) } dd { (text) } } } }
        }
        @for paragraph in paragraphs { p { (paragraph) } }
        @if let Some(code) = code { pre { (code.text) } }
        @for it in sections { (section(None, it)) }
        @for note in notes { p.fine { (note) } }
    }
}

/// Returns the strength of a tint in a page's style. In a document, all tints of the same direction have the same
/// strength.
fn strength(tint: Tint) -> i8 {
    match tint {
        Tint::Better => 3,
        Tint::Worse => -3,
    }
}

/// A section. `id` is the id of its element, to which other parts of a page refer.
pub(crate) fn section(id: Option<&str>, section: &Section) -> Markup {
    html! {
        section id=[id] {
            h2 { (section.title) }
            p.how { (section.paragraphs.join(" ")) }
            @if !section.items.is_empty() { (list(&section.items)) }
            @if !section.more_items.is_empty() {
                details { summary { (section.more_items.len()) " more" } (list(&section.more_items)) }
            }
            @for table in &section.tables { (self::table(&section.title, table)) }
            @for listing in &section.listings { (self::listing(listing)) }
        }
    }
}

fn list(items: &[String]) -> Markup {
    html! { ul { @for item in items { li { (item) } } } }
}

fn listing(listing: &Listing) -> Markup {
    html! {
        h3 { (listing.title) }
        div.listings {
            @for (whose, text) in &listing.texts {
                figure.listing { figcaption { (whose) } pre { (text) } }
            }
        }
    }
}

fn words(column: &Column) -> Option<&'static str> {
    column.is_words.then_some("words")
}

pub(crate) fn table(about: &str, table: &Table) -> Markup {
    let cell = |(shown, column): (&Shown, &Column)| {
        html! { td class=[words(column)] data-tint=[shown.tint.map(strength)] { (shown.text) (shown.note) } }
    };
    let cells = |cells: &[Shown]| html! { @for it in cells.iter().zip(&table.columns) { (cell(it)) } };
    let line = |line: &Line| match line {
        Line::Group { name, cells: of_group } => html! {
            tr.group {
                th scope="rowgroup" colspan=[of_group.is_empty().then_some(table.columns.len() + 1)] { (name) }
                (cells(of_group))
            }
        },
        Line::Test { name, cells: of_test, .. } => html! {
            tr { th.test scope="row" { (name) } (cells(of_test)) }
        },
    };
    html! {
        @if !table.title.is_empty() { h3 { (table.title) } }
        div.scroll { table.matrix.plain {
            caption.hidden-text { (about) @if !table.title.is_empty() { ": " (table.title) } }
            thead { tr {
                th.test scope="col" { (table.head) }
                @for column in &table.columns { th class=[words(column)] scope="col" { (column.system) } }
            } }
            tbody { @for row in &table.lines { (line(row)) } }
        } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Code;

    #[test]
    fn a_document_is_a_page_in_which_names_stay_names() {
        let name = "<img src=x>".to_owned();
        let columns = vec![Column::of("ratio"), Column::of_words("verdict")];
        let mean = vec![Shown::plain("1.2"), Shown::default()];
        let worse = Shown { tint: Some(Tint::Worse), ..Shown::plain(&name) };
        let lines = vec![
            Line::Group { name: name.clone(), cells: mean },
            Line::of(&name, vec![Shown::plain("0.9"), worse]),
        ];
        let section = Section {
            title: name.clone(),
            tables: vec![Table::of(&name, columns, lines)],
            ..Section::default()
        };
        let page = render(&[Document {
            title: name.clone(),
            facts: vec![Fact::new(&name, &name)],
            paragraphs: vec![name.clone()],
            code: Some(Code { language: "toml", text: name.clone() }),
            sections: vec![section],
            notes: vec![name.clone()],
        }]);
        assert!(!page.contains("<img"), "{page}");
        for part in [
            "<title>&lt;img src=x&gt; · Dyno</title>",
            "<th scope=\"rowgroup\">&lt;img src=x&gt;</th><td>1.2</td>",
            "<td class=\"words\" data-tint=\"-3\">&lt;img src=x&gt;</td>",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }
}

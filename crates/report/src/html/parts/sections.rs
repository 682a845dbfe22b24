//! Sections that every format contains, as HTML, except the matrices and the parts that depend on the base.

use maud::{Markup, html};

use crate::sections::section::{Listing, Section};
use crate::sections::table::{Line, Shown, Table, Tint};

/// The tint of a verdict whose size is not shown by it.
fn strength(tint: Tint) -> i8 {
    match tint {
        Tint::Better => 3,
        Tint::Worse => -3,
    }
}

/// A section with an id; empty if there is none.
pub(crate) fn section(id: &str, section: Option<Section>) -> Markup {
    html! {
        @if let Some(section) = section {
            section id=(id) {
                h2 { (section.title) }
                p.how { (section.how_to_read.join(" ")) }
                @if !section.items.is_empty() { (list(&section.items)) }
                @if !section.more_items.is_empty() {
                    details { summary { (section.more_items.len()) " more" } (list(&section.more_items)) }
                }
                @for table in &section.tables { (self::table(section.title, table)) }
                @for listing in &section.listings { (self::listing(listing)) }
            }
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

pub(crate) fn table(about: &str, table: &Table) -> Markup {
    let cell = |cell: &Shown| {
        html! { td data-tint=[cell.tint.map(strength)] { (cell.text) (cell.note) } }
    };
    let line = |line: &Line| match line {
        Line::Group(name) => html! {
            tr.group { th scope="rowgroup" colspan=(table.columns.len() + 1) { (name) } }
        },
        Line::Test { name, cells, .. } => html! {
            tr { th.test scope="row" { (name) } @for shown in cells { (cell(shown)) } }
        },
    };
    html! {
        @if !table.title.is_empty() { h3 { (table.title) } }
        div.scroll { table.matrix.plain {
            caption.hidden-text { (about) @if !table.title.is_empty() { ": " (table.title) } }
            thead { tr { th.test scope="col" {} @for column in &table.columns { th scope="col" { (column.system) } } } }
            tbody { @for row in &table.lines { (line(row)) } }
        } }
    }
}

//! Sections that every format contains, as HTML, except the matrices and the parts that depend on the base.

use maud::{Markup, html};

use crate::section::Section;
use crate::table::{Line, Shown, Table};

/// A section with an id; empty if there is none.
pub(crate) fn section(id: &str, section: Option<Section>) -> Markup {
    html! {
        @if let Some(section) = section {
            section id=(id) {
                h2 { (section.title) }
                p.how { (section.how_to_read.join(" ")) }
                @if !section.items.is_empty() { ul { @for item in &section.items { li { (item) } } } }
                @for table in &section.tables { (self::table(section.title, table)) }
            }
        }
    }
}

fn table(about: &str, table: &Table) -> Markup {
    let line = |name: &str, cells: &[Shown]| {
        html! { tr { th.test scope="row" { (name) } @for cell in cells { td { (cell.text) } } } }
    };
    html! {
        h3 { (table.title) }
        div.scroll { table.matrix.plain {
            caption.hidden-text { (about) ": " (table.title) }
            thead { tr { th.test scope="col" {} @for column in &table.columns { th scope="col" { (column.system) } } } }
            tbody { @for row in &table.lines {
                @if let Line::Test { name, cells, .. } = row { (line(name, cells)) }
            } }
        } }
    }
}

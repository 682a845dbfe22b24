//! Parts of all pages, such as the brand and the style, and whole pages without data or script.

use dyno_printable::printable_html;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::assets;

/// The brand. On a page that `dyno serve` serves, the brand is a link to the list of runs.
pub(super) fn brand(is_served: bool) -> Markup {
    html! {
        @if is_served { a.brand href="/" { span.mark aria-hidden="true" {} "Dyno" } }
        @else { div.brand { span.mark aria-hidden="true" {} "Dyno" } }
    }
}

/// A page without data or script. If `is_served`, the page links to the list of runs.
fn simple(title: &str, is_served: bool, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " · Dyno" }
                style { (PreEscaped(assets::STYLE)) }
            }
            body { header.top { (brand(is_served)) } (body) }
        }
    }
}

/// A page as text, with control characters made visible.
pub(super) fn text(page: &Markup) -> String {
    printable_html(&page.0).into_owned()
}

/// A page of a server, without data or script, in the style of reports.
pub fn simple_page(title: &str, body: &Markup) -> String {
    text(&simple(title, true, body))
}

/// The same page as [`simple_page`], but for a file, and therefore without a link to the list of runs.
pub(crate) fn plain_page(title: &str, body: &Markup) -> String {
    text(&simple(title, false, body))
}

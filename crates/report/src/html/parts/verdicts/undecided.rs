//! Tests without a verdict, grouped by reason. If a reason has many tests, some are hidden at first.

use maud::{Markup, html};

use crate::sections::undecided::{HOW_TO_READ, NAMED_MAX, Reason, TITLE, reasons};

/// The section; empty if every test has a verdict.
pub(crate) fn section(reports: &crate::Reports) -> Markup {
    let reasons = reasons(reports);
    html! {
        @if !reasons.is_empty() {
            section #undecided {
                h2 { (TITLE) }
                p.how { (HOW_TO_READ) }
                ul { @for reason in &reasons { (item(reason)) } }
            }
        }
    }
}

fn item(reason: &Reason) -> Markup {
    let (named, others) = reason.tests.split_at(reason.tests.len().min(NAMED_MAX));
    html! {
        li {
            (reason.what()) ": " (named.join(", "))
            @if !others.is_empty() { details { summary { (others.len()) " more" } (others.join(", ")) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn tests_beyond_the_first_open() {
        let page = section(&reports(&sample::run(1))).into_string();
        assert!(page.contains("<details><summary>5 more</summary>"), "{page}");
        assert!(page.contains("read-write at 4 clients"), "every test is there: {page}");
    }
}

//! Style sheets and scripts of a page, and its content security policy.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// uPlot 1.6.32 (MIT, see `assets/uplot/LICENSE`) and the page's own style.
pub(crate) const STYLE: &str = concat!(
    include_str!("../../assets/uplot/uPlot.min.css"),
    include_str!("../../assets/colours.css"),
    include_str!("../../assets/page.css"),
    include_str!("../../assets/matrix.css"),
    include_str!("../../assets/forest.css"),
    include_str!("../../assets/drilldown.css"),
    include_str!("../../assets/live.css"),
    include_str!("../../assets/flame.css"),
    include_str!("../../assets/listing.css"),
);

/// uPlot, then the page's own scripts, all of them in one scope.
pub(crate) const SCRIPT: &str = concat!(
    include_str!("../../assets/uplot/uPlot.iife.min.js"),
    "\n(() => { \"use strict\";\n",
    include_str!("../../assets/data.js"),
    include_str!("../../assets/theme.js"),
    include_str!("../../assets/state.js"),
    include_str!("../../assets/matrix.js"),
    include_str!("../../assets/hints.js"),
    include_str!("../../assets/copy.js"),
    include_str!("../../assets/charts.js"),
    include_str!("../../assets/counters.js"),
    include_str!("../../assets/checks.js"),
    include_str!("../../assets/explained.js"),
    include_str!("../../assets/rounds.js"),
    include_str!("../../assets/csv.js"),
    include_str!("../../assets/drilldown.js"),
    include_str!("../../assets/live.js"),
    include_str!("../../assets/main.js"),
    "})();",
);

/// A content security policy that allows only the page's own script and no network. A live page may also receive
/// events from its server.
pub(crate) fn policy(is_live: bool) -> String {
    let hash = STANDARD.encode(Sha256::digest(SCRIPT));
    let connect = if is_live { "; connect-src 'self'" } else { "" };
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'{connect}"
    )
}

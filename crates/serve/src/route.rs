//! The pages of the server and their paths.

use dyno_store::RunId;
use percent_encoding::percent_decode_str;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// The list of runs.
    List,
    /// The report of a run.
    Run(RunId),
    /// The progress of the current run.
    Events,
    /// Metrics, for monitoring.
    Metrics,
}

impl Route {
    /// Returns the route of a request's target. `None` if the server has nothing at the target's path. The query is
    /// ignored.
    pub(crate) fn of(target: &str) -> Option<Self> {
        let path = target.split(['?', '#']).next().unwrap_or_default();
        match &*percent_decode_str(path).decode_utf8().ok()? {
            "/" => Some(Self::List),
            "/events" => Some(Self::Events),
            "/metrics" => Some(Self::Metrics),
            path => {
                let number = path.strip_prefix("/run/")?;
                let is_plain = number.bytes().all(|byte| byte.is_ascii_digit());
                number.parse().ok().filter(|_| is_plain).map(|id| Self::Run(RunId(id)))
            }
        }
    }

    /// Returns the path of this route. The path contains nothing that the reader sent, except the number of a run.
    pub(crate) fn path(self) -> String {
        match self {
            Self::List => "/".to_owned(),
            Self::Run(id) => format!("/run/{id}"),
            Self::Events => "/events".to_owned(),
            Self::Metrics => "/metrics".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_decoded_once_and_queries_do_not_matter() {
        assert_eq!(Route::of("/"), Some(Route::List));
        assert_eq!(Route::of("/?token=a"), Some(Route::List));
        assert_eq!(Route::of("/run/007?x"), Some(Route::Run(RunId(7))));
        assert_eq!(Route::of("/%72un/%31"), Some(Route::Run(RunId(1))));
        assert_eq!(Route::of("/metrics?x"), Some(Route::Metrics));
        assert_eq!(Route::of("/run/007").unwrap().path(), "/run/7");
    }

    #[test]
    fn there_is_nothing_else() {
        for target in [
            "",
            "*",
            "//",
            "//evil.example",
            "/\\evil.example",
            "/run/",
            "/run/+1",
            "/run/-1",
            "/run/1/",
            "/run/1/..",
            "/run/9223372036854775808",
            "/run/\u{661}",
            "/%2572un/1",
            "/%",
            "/%ff",
            "/../etc/passwd",
            "/%2e%2e/",
            "/events/",
            "/metrics/",
        ] {
            assert_eq!(Route::of(target), None, "{target}");
        }
    }
}

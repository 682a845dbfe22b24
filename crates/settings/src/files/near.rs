//! Suggestions for mistyped names.

/// The known name that is nearest to a mistyped one; `None` if no known name is near.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    const ALIKE: f64 = 0.88;
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate.to_owned())
}

/// The end of an error message that suggests a name.
pub(crate) fn did_you_mean(near: Option<&String>) -> String {
    near.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

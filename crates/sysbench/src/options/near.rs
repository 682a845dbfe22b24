//! Suggestions for misspelt names.

/// Largest number of edits between a wrong name and its suggestion.
const NEAR: usize = 3;

/// The known name that was probably meant. `None` if no known name is near.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, nearest) =
        known.into_iter().map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate)).min()?;
    (distance <= NEAR && distance < name.len()).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_name_is_near_by_its_letters_only() {
        let known = ["threads", "time", "rate"];
        assert_eq!(nearest("thraeds", known), Some("threads"));
        assert_eq!(nearest("tmie", known), Some("time"));
        assert_eq!(nearest("percentage", known), None);
        assert_eq!(nearest("x", known), None);
    }
}

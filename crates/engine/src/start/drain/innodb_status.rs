//! Reads pending work from `SHOW ENGINE INNODB STATUS`, for every version since 5.5.

/// The pending work that `SHOW ENGINE INNODB STATUS` reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct InnodbStatus {
    /// Number of transactions that purge has not processed. 0 if purge has nothing to do.
    pub(super) purge_lag: Option<u64>,
    /// Length of the history list. Undo logs stay in the list for a while after they are purged. In some versions they
    /// stay until the list is long.
    pub(super) history_list_length: Option<u64>,
    /// Bytes of redo log since the last checkpoint.
    pub(super) checkpoint_age: Option<u64>,
}

impl InnodbStatus {
    pub(super) fn parse(text: &str) -> Self {
        let word_after = |label: &str| {
            let rest = text.lines().find_map(|line| line.trim_start().strip_prefix(label))?;
            rest.split_whitespace().next()
        };
        let number_after = |label| word_after(label).and_then(|word| word.parse::<u64>().ok());
        let history_list_length = number_after("History list length");
        let is_idle = history_list_length == Some(0)
            || text.lines().any(|line| line.starts_with("Purge done") && line.ends_with("idle"));
        let behind = || {
            let counter = word_after("Trx id counter")?;
            difference(counter, word_after("Purge done for trx's n:o <")?)
        };
        Self {
            purge_lag: if is_idle { Some(0) } else { behind() },
            history_list_length,
            checkpoint_age: number_after("Log sequence number")
                .zip(number_after("Last checkpoint at"))
                .map(|(now, checkpoint)| now.saturating_sub(checkpoint)),
        }
    }
}

/// Returns the difference of two transaction numbers. MySQL 5.5 prints transaction numbers in hexadecimal.
fn difference(counter: &str, done: &str) -> Option<u64> {
    let is_hexadecimal = [counter, done].iter().any(|text| text.contains(|c: char| c.is_ascii_alphabetic()));
    let radix = if is_hexadecimal { 16 } else { 10 };
    let number = |text| u64::from_str_radix(text, radix).ok();
    Some(number(counter)?.saturating_sub(number(done)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_put_off_is_read_from_the_text() {
        let status = "Trx id counter 1309\n\
            Purge done for trx's n:o < 1301 undo n:o < 0 state: running\n\
            History list length 4\n\
            Log sequence number          26680724\n\
            Log flushed up to            26680724\n\
            Last checkpoint at           1625987\n";
        let expected = InnodbStatus {
            purge_lag: Some(8),
            history_list_length: Some(4),
            checkpoint_age: Some(25_054_737),
        };
        assert_eq!(InnodbStatus::parse(status), expected);
        let idle = status.replace("state: running", "state: running but idle");
        assert_eq!(InnodbStatus::parse(&idle).purge_lag, Some(0));
        // A server that has purged nothing since its start shows 0. That means that purge has nothing to do.
        let new = status.replace("< 1301", "< 0").replace("length 4", "length 0");
        assert_eq!(InnodbStatus::parse(&new).purge_lag, Some(0));
    }

    #[test]
    fn transactions_of_5_5_are_in_hexadecimal() {
        let status =
            "Trx id counter 90B\nPurge done for trx's n:o < 900 undo n:o < 0\nHistory list length 7\n";
        assert_eq!(InnodbStatus::parse(status).purge_lag, Some(11));
    }

    #[test]
    fn what_is_not_in_the_text_is_not_made_up() {
        assert_eq!(InnodbStatus::parse("something else"), InnodbStatus::default());
    }
}

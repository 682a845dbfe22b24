//! The contents of transactions. A row's content follows from its key, so each row can be checked by itself.

use std::fmt::Write as _;

use dyno_stats::SplitMix64;

/// The tables with rows. Each transaction writes into both tables.
pub(crate) const TABLES: [&str; 2] = ["crash_first", "crash_second"];
/// A table with the number of each client's last transaction.
pub(crate) const COUNTER: &str = "crash_counter";
/// The number of rows that a transaction inserts. These rows are its parts, numbered from 0.
pub(crate) const PARTS: u32 = 3;
/// The parts of a transaction that are inserted into the second table. The others go into the first table.
const OF_SECOND_TABLE: std::ops::Range<u32> = 2..PARTS;
const PAYLOAD_BYTES_MIN: usize = 40;
const PAYLOAD_BYTES_MAX: usize = 240;
/// The value in [`COUNTER`] for a client that has not committed a transaction.
const NONE: i64 = -1;

/// The statements that make the tables.
pub(crate) fn create(clients: u32) -> Vec<String> {
    let rows = TABLES.map(|table| {
        format!(
            "CREATE TABLE {table} (client INT NOT NULL, seq INT NOT NULL, part INT NOT NULL, \
             payload VARCHAR({PAYLOAD_BYTES_MAX}) NOT NULL, PRIMARY KEY (client, seq, part))"
        )
    });
    let counter =
        format!("CREATE TABLE {COUNTER} (client INT NOT NULL, seq INT NOT NULL, PRIMARY KEY (client))");
    let values: Vec<String> = (0..clients).map(|client| format!("({client}, {NONE})")).collect();
    let counters = format!("INSERT INTO {COUNTER} VALUES {}", values.join(", "));
    rows.into_iter().chain([counter, counters]).collect()
}

/// Returns the statements that a transaction executes between `BEGIN` and `COMMIT`.
pub(crate) fn statements(client: u32, seq: usize) -> [String; 3] {
    [
        insert(TABLES[0], client, seq, 0..OF_SECOND_TABLE.start),
        format!("UPDATE {COUNTER} SET seq = {seq} WHERE client = {client}"),
        insert(TABLES[1], client, seq, OF_SECOND_TABLE),
    ]
}

fn insert(table: &str, client: u32, seq: usize, parts: std::ops::Range<u32>) -> String {
    let row = |part| format!("({client}, {seq}, {part}, '{}')", payload(client, seq, part));
    format!("INSERT INTO {table} VALUES {}", parts.map(row).collect::<Vec<_>>().join(", "))
}

/// The payload of a row: letters and digits that need no quoting.
pub(crate) fn payload(client: u32, seq: usize, part: u32) -> String {
    let mut random = SplitMix64::new((u64::from(client) << 40) ^ ((seq as u64) << 4) ^ u64::from(part));
    let bytes = PAYLOAD_BYTES_MIN + random.below(PAYLOAD_BYTES_MAX - PAYLOAD_BYTES_MIN + 1);
    let mut payload = String::with_capacity(bytes + 16);
    while payload.len() < bytes {
        // Writing to a string cannot fail.
        let _ = write!(payload, "{:016x}", random.draw());
    }
    payload.truncate(bytes);
    payload
}

/// Returns the value that [`COUNTER`] must have for a client whose last present transaction is `last`.
pub(crate) fn counted(last: Option<usize>) -> i64 {
    last.map_or(NONE, |seq| seq as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_a_payload_of_its_own_that_is_always_the_same() {
        let payloads: std::collections::BTreeSet<String> = (0..3)
            .flat_map(|client| (0..50).map(move |seq| (client, seq)))
            .flat_map(|(client, seq)| (0..PARTS).map(move |part| payload(client, seq, part)))
            .collect();
        assert_eq!(payloads.len(), 450);
        assert!(payloads.iter().all(|it| (PAYLOAD_BYTES_MIN..=PAYLOAD_BYTES_MAX).contains(&it.len())));
        assert_eq!(payload(1, 2, 0), payload(1, 2, 0));
    }

    #[test]
    fn a_transaction_writes_its_rows_into_both_tables() {
        let [first, counter, second] = statements(3, 7);
        assert!(first.starts_with("INSERT INTO crash_first VALUES (3, 7, 0, '"), "{first}");
        assert!(first.contains("(3, 7, 1, '") && !first.contains("(3, 7, 2, '"), "{first}");
        assert_eq!(counter, "UPDATE crash_counter SET seq = 7 WHERE client = 3");
        assert!(second.starts_with("INSERT INTO crash_second VALUES (3, 7, 2, '"), "{second}");
    }
}

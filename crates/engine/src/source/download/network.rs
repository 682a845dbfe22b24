//! Recognises network failures in the output of tools.

/// Messages of curl, apt, npm and Maven when a name is not resolved or nothing answers.
const WORDS: [&str; 14] = [
    "Could not resolve",
    "Temporary failure",
    "Could not connect",
    "Unable to connect",
    "Cannot initiate the connection",
    "Connection timed out",
    "Connection refused",
    "Network is unreachable",
    "UnknownHostException",
    "Unknown host",
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ETIMEDOUT",
];

/// The first line with one of them.
pub(in crate::source) fn complaint(output: &[u8]) -> Option<String> {
    let output = String::from_utf8_lossy(output);
    let line = output.lines().find(|line| WORDS.iter().any(|word| line.contains(word)))?;
    Some(line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_about_the_network_is_told() {
        let output = b"Ign:1 sid InRelease\n  Temporary failure resolving 'mirror.test'\nE: Unable to locate package x";
        assert_eq!(complaint(output).as_deref(), Some("Temporary failure resolving 'mirror.test'"));
        assert_eq!(complaint(b"E: Unable to locate package x"), None);
    }
}

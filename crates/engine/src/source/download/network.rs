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

/// Messages with the status by which a proxy asks for a password (RFC 9110, section 15.5.8).
const OF_PROXY: [&str; 4] = ["response 407", "HTTP code 407", "error: 407", "Proxy Authentication Required"];

/// Returns the first line that contains one of the messages of a network failure.
pub(in crate::source) fn complaint(output: &[u8]) -> Option<String> {
    first_with(&WORDS, output)
}

/// The first line that says that a proxy wants a password.
pub(in crate::source) fn complaint_of_proxy(output: &[u8]) -> Option<String> {
    first_with(&OF_PROXY, output)
}

fn first_with(words: &[&str], output: &[u8]) -> Option<String> {
    let output = String::from_utf8_lossy(output);
    let line = output.lines().find(|line| words.iter().any(|word| line.contains(word)))?;
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
        let output = b"curl: (56) CONNECT tunnel failed, response 407\n";
        assert!(complaint_of_proxy(output).is_some() && complaint_of_proxy(b"response 404").is_none());
    }
}

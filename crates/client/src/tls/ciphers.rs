//! Cipher lists in OpenSSL's format, and the suites that they select.

use std::collections::BTreeSet;

use rustls::SupportedCipherSuite;
use rustls::crypto::ring::cipher_suite as ring;

/// The available suites with OpenSSL's names. The suites of TLS 1.3 come first. If the user gives no list, the suites
/// of each version of TLS are offered in this order.
const KNOWN: [(&str, SupportedCipherSuite); 9] = [
    ("TLS_AES_256_GCM_SHA384", ring::TLS13_AES_256_GCM_SHA384),
    ("TLS_AES_128_GCM_SHA256", ring::TLS13_AES_128_GCM_SHA256),
    ("TLS_CHACHA20_POLY1305_SHA256", ring::TLS13_CHACHA20_POLY1305_SHA256),
    ("ECDHE-ECDSA-AES256-GCM-SHA384", ring::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384),
    ("ECDHE-ECDSA-AES128-GCM-SHA256", ring::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
    ("ECDHE-ECDSA-CHACHA20-POLY1305", ring::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256),
    ("ECDHE-RSA-AES256-GCM-SHA384", ring::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384),
    ("ECDHE-RSA-AES128-GCM-SHA256", ring::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256),
    ("ECDHE-RSA-CHACHA20-POLY1305", ring::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256),
];

/// Separators of names (`ciphers(1)`).
const SEPARATORS: [char; 4] = [':', ',', ' ', ';'];

/// An unusable cipher list.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot use '{list}' as a list of TLS ciphers: {why}; name some of {} (OpenSSL's keywords, such as HIGH or \
     !aNULL, are not supported)",
    KNOWN.map(|(name, _)| name).join(", ")
)]
pub struct CiphersError {
    list: String,
    why: String,
}

/// The suites that a list selects, in the order in which they are offered.
///
/// If the list names ciphers of a TLS version, only these ciphers are offered for that version. If the list names no
/// cipher of a version, all ciphers of the version are offered. Unknown names are ignored, as in OpenSSL.
pub(super) fn suites(list: &str) -> Result<Vec<SupportedCipherSuite>, CiphersError> {
    let refused = |why| CiphersError { list: list.to_owned(), why };
    let words: Vec<&str> = list.split(SEPARATORS).filter(|word| !word.is_empty()).collect();
    if let Some(other) = words.iter().find(|word| !is_name(word)) {
        return Err(refused(format!("'{other}' is not the name of a cipher")));
    }
    let mut seen = BTreeSet::new();
    let named: Vec<_> = words.into_iter().filter(|word| seen.insert(*word)).filter_map(find).collect();
    if named.is_empty() {
        return Err(refused("it names no cipher that is available here".to_owned()));
    }
    Ok([true, false].into_iter().flat_map(|is_tls13| of_version(&named, is_tls13)).collect())
}

/// OpenSSL's name of a suite.
pub(super) fn name(suite: SupportedCipherSuite) -> Option<&'static str> {
    KNOWN.iter().find(|(_, known)| *known == suite).map(|(name, _)| *name)
}

/// The suites to offer for TLS 1.3 if `is_tls13` is true, otherwise for TLS 1.2. These are the named suites of the
/// version, or all its suites if none is named.
fn of_version(named: &[SupportedCipherSuite], is_tls13: bool) -> Vec<SupportedCipherSuite> {
    let of_it = |suite: &SupportedCipherSuite| suite.tls13().is_some() == is_tls13;
    let named: Vec<_> = named.iter().copied().filter(of_it).collect();
    if named.is_empty() { KNOWN.iter().map(|(_, suite)| *suite).filter(of_it).collect() } else { named }
}

fn find(name: &str) -> Option<SupportedCipherSuite> {
    KNOWN.iter().find(|(known, _)| *known == name).map(|(_, suite)| *suite)
}

/// Whether a word could be the name of one cipher. Names of ciphers have several parts. OpenSSL's keywords are
/// single words (`HIGH`), sums of words (`ECDHE+AESGCM`), or begin with a sign (`!aNULL`, `@STRENGTH`).
fn is_name(word: &str) -> bool {
    word.contains(['-', '_']) && !word.starts_with(['!', '-', '+', '@']) && !word.contains('+')
}

#[cfg(test)]
mod tests {
    use rustls::crypto::ring::DEFAULT_CIPHER_SUITES;

    use super::*;

    fn names(list: &str) -> Vec<&'static str> {
        suites(list).expect(list).into_iter().map(|suite| name(suite).expect("a known suite")).collect()
    }

    fn refusal(list: &str) -> String {
        suites(list).expect_err(list).to_string()
    }

    /// OpenSSL's name of a suite differs from the suite's registered name only in its form.
    #[test]
    fn each_name_stands_for_the_suite_of_its_parts() {
        for (name, suite) in KNOWN {
            let registered = format!("{:?}", suite.suite()).replace("TLS13_", "TLS_").replace("_WITH_", "_");
            let registered = registered.replace('_', "");
            let prefix = if suite.tls13().is_some() { "" } else { "TLS" };
            let parts = [prefix, &name.replace(['-', '_'], "")].concat();
            assert!(registered.starts_with(&parts), "{name}: {registered}");
        }
        assert_eq!(KNOWN.map(|(_, suite)| suite), DEFAULT_CIPHER_SUITES);
    }

    #[test]
    fn a_list_limits_the_versions_whose_ciphers_it_names() {
        let all = KNOWN.map(|(name, _)| name);
        let (tls13, tls12) = (all[..3].to_vec(), all[3..].to_vec());
        let rsa = "ECDHE-RSA-AES128-GCM-SHA256";
        assert_eq!(names(rsa), [tls13.clone(), vec![rsa]].concat());
        let chacha = "TLS_CHACHA20_POLY1305_SHA256";
        assert_eq!(names(chacha), [vec![chacha], tls12].concat());
        assert_eq!(names(&format!("{rsa}:{chacha}")), [chacha, rsa]);
    }

    #[test]
    fn the_order_of_names_is_kept_and_a_name_counts_once() {
        let list = "ECDHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256 ECDHE-RSA-CHACHA20-POLY1305";
        assert_eq!(names(list)[3..], ["ECDHE-RSA-CHACHA20-POLY1305", "ECDHE-ECDSA-AES128-GCM-SHA256"]);
    }

    #[test]
    fn ciphers_that_are_not_there_are_passed_over_unless_none_is_left() {
        let known = "TLS_AES_128_GCM_SHA256";
        assert_eq!(names(&format!("AES128-SHA::{known}:DHE-RSA-AES256-SHA")), names(known));
        for list in ["AES128-SHA", "AES128-SHA:DHE-RSA-AES256-SHA", "ecdhe-rsa-aes128-gcm-sha256", ":", ""] {
            let told = refusal(list);
            assert!(told.contains(&format!("'{list}'")) && told.contains("it names no cipher"), "{told}");
            assert!(KNOWN.iter().all(|(name, _)| told.contains(name)), "{told}");
        }
    }

    #[test]
    fn keywords_are_refused_even_beside_names() {
        for word in ["HIGH", "!aNULL", "-RC4-MD5", "+AES", "@STRENGTH", "ECDHE+AESGCM", "DEFAULT@SECLEVEL=1"]
        {
            let told = refusal(&format!("ECDHE-RSA-AES128-GCM-SHA256:{word}"));
            assert!(told.contains(&format!("'{word}' is not the name of a cipher")), "{told}");
        }
    }
}

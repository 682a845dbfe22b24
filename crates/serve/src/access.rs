//! Access control of requests.

use crate::http::Request;

/// Cookie that stores a valid token.
const COOKIE: &str = "dyno_token";

/// The rule of access. With a token, only requests that have it are allowed. Without one, only requests to a name of
/// this machine are.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) token: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Allowed,
    /// Redirect to this path with the token as a cookie, so that the address bar and logs do not contain it.
    Keep {
        path: String,
        cookie: String,
    },
    Refused,
}

impl Access {
    pub(crate) fn decide(&self, request: &Request) -> Decision {
        let header = |name| request.header(name);
        self.decide_on(&request.target, header("Host"), header("Authorization"), header("Cookie"))
    }

    fn decide_on(&self, url: &str, host: &str, authorization: &str, cookies: &str) -> Decision {
        let Some(token) = &self.token else {
            // A foreign page must not read these pages through a host name that resolves to this machine ("DNS
            // rebinding").
            return if is_local(host) { Decision::Allowed } else { Decision::Refused };
        };
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let given = query.split('&').find_map(|part| part.strip_prefix("token="));
        if let Some(given) = given {
            if !is_same(given, token) {
                return Decision::Refused;
            }
            let cookie = format!("{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/");
            return Decision::Keep { path: path.to_owned(), cookie };
        }
        let bearer = authorization.strip_prefix("Bearer ");
        let kept =
            cookies.split(';').find_map(|cookie| cookie.trim().strip_prefix(COOKIE)?.strip_prefix('='));
        let is_known = [bearer, kept].into_iter().flatten().any(|given| is_same(given, token));
        if is_known { Decision::Allowed } else { Decision::Refused }
    }
}

/// Whether an address and a cookie can contain the token without escapes.
pub(crate) fn is_plain(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte))
}

fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    matches!(name, "localhost" | "[::1]")
        || name.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// Compares in constant time, so that the time does not show how many characters match.
fn is_same(given: &str, token: &str) -> bool {
    let differences = given.bytes().zip(token.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == token.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_token_only_this_machine_s_own_names_are_answered() {
        let access = Access { token: None };
        for host in ["localhost:8080", "127.0.0.1:8080", "[::1]:8080", "localhost"] {
            assert_eq!(access.decide_on("/", host, "", ""), Decision::Allowed, "{host}");
        }
        for host in ["evil.example:8080", "127.0.0.1.evil.example", "", "10.0.0.1:80"] {
            assert_eq!(access.decide_on("/", host, "", ""), Decision::Refused, "{host}");
        }
    }

    #[test]
    fn a_token_is_taken_once_from_the_address_then_from_the_cookie_or_a_header() {
        let access = Access { token: Some("s3cret".to_owned()) };
        let decide = |url, authorization, cookies| access.decide_on(url, "any", authorization, cookies);
        let cookie = "dyno_token=s3cret; HttpOnly; SameSite=Strict; Path=/".to_owned();
        assert_eq!(
            decide("/run/1?token=s3cret", "", ""),
            Decision::Keep { path: "/run/1".to_owned(), cookie }
        );
        assert_eq!(decide("/", "Bearer s3cret", ""), Decision::Allowed);
        assert_eq!(decide("/", "", "a=b; dyno_token=s3cret"), Decision::Allowed);
        for (url, authorization, cookies) in
            [("/", "", ""), ("/?token=s3cre", "", ""), ("/", "Bearer s3cret2", ""), ("/", "", "dyno_token=")]
        {
            assert_eq!(decide(url, authorization, cookies), Decision::Refused);
        }
    }

    #[test]
    fn a_token_is_of_plain_letters() {
        assert!(is_plain("aZ0-_.~"));
        for odd in ["", "a b", "a;b", "a\r\nb", "ä"] {
            assert!(!is_plain(odd), "{odd:?}");
        }
    }
}

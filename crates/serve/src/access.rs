//! Access control of requests.

use subtle::ConstantTimeEq as _;

use crate::request::Request;

/// The rule of access. If the server has a token, a request must contain it. Otherwise the request's `Host` must
/// name this machine.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    token: Option<String>,
    /// Name of the cookie that keeps a valid token. The name contains the port, because all ports of a host share
    /// cookies.
    cookie: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Allowed,
    /// Redirect to the path without the query, and set this cookie. From then on, the cookie contains the token, so the
    /// address bar and logs do not show the token.
    Keep {
        cookie: String,
    },
    /// Not allowed, for this reason.
    Refused(&'static str),
}

/// The message for a request with another host name: it says to which names a server without a token answers.
const NO_NAME: &str = "This server answers to localhost and to addresses of this machine. For other names, start dyno serve with a --token.";
const NO_TOKEN: &str = "This needs the token: open the address that dyno serve printed.";

impl Access {
    /// `port` is the port on which the server listens.
    pub(crate) fn new(token: Option<String>, port: u16) -> Self {
        Self { token, cookie: format!("dyno_token_{port}") }
    }

    pub(crate) fn decide(&self, request: &Request) -> Decision {
        let header = |name| request.header(name);
        self.decide_on(&request.target, &request.host, header("Authorization"), header("Cookie"))
    }

    fn decide_on(&self, target: &str, host: &str, authorization: &str, cookies: &str) -> Decision {
        let Some(token) = &self.token else {
            // Without this check, another site could read the pages through a host name that the site owns and that
            // resolves to this machine ("DNS rebinding").
            return if is_local(host) { Decision::Allowed } else { Decision::Refused(NO_NAME) };
        };
        let query = target.split_once('?').map_or("", |(_, query)| query);
        let given = query.split('&').find_map(|part| part.strip_prefix("token="));
        if let Some(given) = given {
            if !is_same(given, token) {
                return Decision::Refused(NO_TOKEN);
            }
            // `Lax`, because with `Strict` the browser would not send the cookie after the redirect if the reader
            // followed a link in a mail.
            let cookie = format!("{}={token}; HttpOnly; SameSite=Lax; Path=/", self.cookie);
            return Decision::Keep { cookie };
        }
        let bearer = authorization
            .split_once(' ')
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("Bearer"))
            .map(|(_, given)| given.trim());
        let kept = cookies.split(';').filter_map(|cookie| cookie.trim().split_once('='));
        let kept = kept.filter(|(name, _)| *name == self.cookie).map(|(_, given)| given);
        let is_known = bearer.into_iter().chain(kept).any(|given| is_same(given, token));
        if is_known { Decision::Allowed } else { Decision::Refused(NO_TOKEN) }
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
    name.eq_ignore_ascii_case("localhost")
        || name == "[::1]"
        || name.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// Compares two tokens in constant time, so that the duration does not reveal how many characters match.
fn is_same(given: &str, token: &str) -> bool {
    given.as_bytes().ct_eq(token.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_token_only_this_machine_s_own_names_are_answered() {
        let access = Access::new(None, 8080);
        for host in ["localhost:8080", "LocalHost:8080", "127.0.0.1:8080", "[::1]:8080", "localhost"] {
            assert_eq!(access.decide_on("/", host, "", ""), Decision::Allowed, "{host}");
        }
        for host in ["evil.example:8080", "127.0.0.1.evil.example", "", "10.0.0.1:80"] {
            assert_eq!(access.decide_on("/", host, "", ""), Decision::Refused(NO_NAME), "{host}");
        }
    }

    #[test]
    fn a_token_is_taken_once_from_the_address_then_from_the_cookie_or_a_header() {
        let access = Access::new(Some("s3cret".to_owned()), 80);
        let decide = |url, authorization, cookies| access.decide_on(url, "any", authorization, cookies);
        let cookie = "dyno_token_80=s3cret; HttpOnly; SameSite=Lax; Path=/".to_owned();
        assert_eq!(decide("/run/1?token=s3cret", "", ""), Decision::Keep { cookie });
        assert_eq!(decide("/", "Bearer s3cret", ""), Decision::Allowed);
        assert_eq!(decide("/", "bearer s3cret", ""), Decision::Allowed);
        assert_eq!(decide("/", "", "a=b; dyno_token_80=old; dyno_token_80=s3cret"), Decision::Allowed);
        for (url, authorization, cookies) in [
            ("/", "", ""),
            ("/?token=s3cre", "", ""),
            ("/", "Bearer s3cret2", ""),
            ("/", "", "dyno_token_80="),
            ("/", "", "dyno_token_81=s3cret"),
        ] {
            assert_eq!(decide(url, authorization, cookies), Decision::Refused(NO_TOKEN));
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

//! The parameters of a dsn about logins: what a server may learn, and how long a login may take. They have the names
//! that the products' own clients give them.

use std::path::PathBuf;
use std::time::Duration;

use dyno_client::{PgsqlMethod, TlsMode, Trust};

use super::dsn_error::DsnError;
use crate::catalogue::entry::Family;

const TAKES_KEY: &str = "get-server-public-key";
const KEY_FILE: &str = "server-public-key-path";
const CLEAR_TEXT: &str = "enable-cleartext-plugin";
const METHODS: &str = "require_auth";

/// Names in MySQL's clients ("Command Options for Connecting to the Server" in the MySQL manual).
const MYSQL: [&str; 4] = ["connect-timeout", TAKES_KEY, KEY_FILE, CLEAR_TEXT];
/// Names in libpq ("Parameter Key Words" in the PostgreSQL manual).
const POSTGRES: [&str; 2] = ["connect_timeout", METHODS];

/// The values of the login parameters in a dsn.
#[derive(Default)]
pub(super) struct TrustParameters {
    timeout: Option<String>,
    takes_key: Option<String>,
    key_file: Option<String>,
    clear_text: Option<String>,
    methods: Option<String>,
}

/// The rules for logins that follow from the parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LoginRules {
    /// What a login may reveal. The server's key is missing here until `key_file` is read.
    pub(super) trust: Trust,
    /// The path of a file with the server's RSA key.
    pub(super) key_file: Option<PathBuf>,
    /// Time limit of a login.
    pub(super) limit: Option<Duration>,
}

/// The names of a product's parameters.
pub(super) fn names(family: Family) -> &'static [&'static str] {
    match family {
        Family::Postgres => &POSTGRES,
        Family::Mysql | Family::Mariadb | Family::Sqlite => &MYSQL,
    }
}

impl TrustParameters {
    /// Returns the field that stores a parameter's value. Returns `None` for other parameters, and for those of other
    /// products.
    pub(super) fn place(&mut self, family: Family, name: &str) -> Option<&mut Option<String>> {
        let known = names(family).iter().find(|known| **known == name)?;
        Some(match *known {
            TAKES_KEY => &mut self.takes_key,
            KEY_FILE => &mut self.key_file,
            CLEAR_TEXT => &mut self.clear_text,
            METHODS => &mut self.methods,
            _ => &mut self.timeout,
        })
    }

    /// Returns the rules for the parameters. Reads no file.
    pub(super) fn rules(self, family: Family, mode: TlsMode) -> Result<LoginRules, DsnError> {
        let key_file = self.key_file.map(PathBuf::from);
        if key_file.is_some() && !mode.may_be_open() {
            let given = super::tls::names(family).written(mode);
            return Err(DsnError::Contradiction(format!("{KEY_FILE} is used without TLS, not with {given}")));
        }
        let limit = self.timeout.map(|text| seconds(names(family)[0], text)).transpose()?;
        let trust = Trust {
            public_key: None,
            takes_public_key: flag(TAKES_KEY, self.takes_key)?,
            sends_clear_text: flag(CLEAR_TEXT, self.clear_text)?,
            methods: methods(self.methods)?,
        };
        Ok(LoginRules { trust, key_file, limit })
    }
}

/// Reads a flag as in MySQL's option files. A flag without a value is set.
fn flag(name: &'static str, text: Option<String>) -> Result<bool, DsnError> {
    match text.as_deref().map(str::to_ascii_lowercase).as_deref() {
        None | Some("off" | "0" | "false") => Ok(false),
        Some("" | "on" | "1" | "true") => Ok(true),
        Some(_) => {
            let value = text.unwrap_or_default();
            Err(DsnError::Value { name, value, known: "ON, OFF".to_owned() })
        }
    }
}

fn seconds(name: &'static str, text: String) -> Result<Duration, DsnError> {
    match text.parse::<u32>() {
        Ok(seconds) if seconds > 0 => Ok(Duration::from_secs(u64::from(seconds))),
        _ => Err(DsnError::Value { name, value: text, known: "1 or more seconds".to_owned() }),
    }
}

fn methods(text: Option<String>) -> Result<Vec<PgsqlMethod>, DsnError> {
    let text = text.unwrap_or_default();
    PgsqlMethod::list(&text).map_err(|_| DsnError::Value {
        name: METHODS,
        value: text,
        known: PgsqlMethod::ALL.map(|(_, name)| name).join(", "),
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::super::Remote;
    use super::super::dsn::Dsn;
    use super::*;

    fn rules(text: &str) -> Result<LoginRules, DsnError> {
        Dsn::parse(text).map(|dsn| dsn.rules)
    }

    #[test]
    fn nothing_is_given_away_unless_it_is_asked_for() {
        for text in
            ["mysql://h", "postgres://h", "mysql://h?get-server-public-key=OFF&enable-cleartext-plugin=0"]
        {
            assert_eq!(rules(text).unwrap(), LoginRules::default(), "{text}");
        }
        let trust = rules("mysql://h?get-server-public-key&enable-cleartext-plugin=on").unwrap().trust;
        assert!(trust.takes_public_key && trust.sends_clear_text);
        let methods = rules("postgres://h?require_auth=password,md5").unwrap().trust.methods;
        assert_eq!(methods, [PgsqlMethod::Password, PgsqlMethod::Md5]);
    }

    #[test]
    fn a_key_is_read_from_a_file_beside_the_plan() {
        let dsn = Dsn::parse("mysql://h?ssl-mode=DISABLED&server-public-key-path=key.pem").unwrap();
        let rules = dsn.in_folder("/plans".as_ref()).rules;
        assert_eq!(rules.key_file, Some(PathBuf::from("/plans/key.pem")));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "no key").unwrap();
        let dsn = format!("mysql://h?server-public-key-path={}", file.path().display());
        let error = Dsn::parse(&dsn).unwrap().check_files().unwrap_err().to_string();
        assert!(error.contains("it holds no RSA public key (PEM)"), "{error}");
    }

    #[test]
    fn a_login_has_a_limit_by_each_product_s_name() {
        let limit = |text: &str| rules(text).unwrap().limit;
        assert_eq!(limit("mysql://h?connect-timeout=5"), Some(Duration::from_secs(5)));
        assert_eq!(limit("postgres://h?connect_timeout=7"), Some(Duration::from_secs(7)));
    }

    #[test]
    fn a_server_that_is_silent_is_given_up_at_the_limit() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = silent.local_addr().unwrap().port();
        for scheme in ["mysql", "postgres"] {
            let limit = if scheme == "mysql" { "connect-timeout" } else { "connect_timeout" };
            let dsn = Dsn::parse(&format!("{scheme}://127.0.0.1:{port}?{limit}=1")).unwrap();
            let error = Remote::connect(&dsn).unwrap_err().to_string();
            let words = format!("127.0.0.1:{port} did not complete the login within 1 s");
            assert!(error.contains(&words), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_is_told() {
        for (text, words) in [
            ("mysql://h?connect-timeout=0", "connect-timeout=0; it may be 1 or more seconds"),
            ("mysql://h?get-server-public-key=perhaps", "get-server-public-key=perhaps; it may be ON, OFF"),
            ("postgres://h?require_auth=gss", "it may be password, md5, scram-sha-256, none"),
            ("postgres://h?get-server-public-key=1", "a parameter 'get-server-public-key'"),
            ("mysql://h?require_auth=md5", "a parameter 'require_auth'"),
            (
                "mysql://h?ssl-mode=REQUIRED&server-public-key-path=/k.pem",
                "server-public-key-path is used without TLS, not with ssl-mode=REQUIRED",
            ),
        ] {
            let error = rules(text).expect_err(text).to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}

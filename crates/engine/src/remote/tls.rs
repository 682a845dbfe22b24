//! The TLS parameters of a dsn. They have the names that the products' own clients give them.

use std::path::PathBuf;

use dyno_client::{Tls, TlsMode, TlsNames};

use super::dsn_error::DsnError;
use crate::catalogue::entry::Family;

/// Names in libpq ("SSL Support" in the PostgreSQL manual).
const POSTGRES: TlsNames = TlsNames {
    mode: "sslmode",
    ca: "sslrootcert",
    cert: "sslcert",
    key: "sslkey",
    ciphers: "",
    modes: ["disable", "prefer", "require", "verify-ca", "verify-full"],
};

/// Names of the options of MySQL's clients ("Command Options for Encrypted Connections" in the MySQL manual).
const MYSQL: TlsNames = TlsNames {
    mode: "ssl-mode",
    ca: "ssl-ca",
    cert: "ssl-cert",
    key: "ssl-key",
    ciphers: "",
    modes: ["DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"],
};

/// The names of a product's TLS parameters.
pub(super) fn names(family: Family) -> &'static TlsNames {
    match family {
        Family::Postgres => &POSTGRES,
        Family::Mysql | Family::Mariadb | Family::Sqlite => &MYSQL,
    }
}

/// The values of the TLS parameters in a dsn.
#[derive(Default)]
pub(super) struct TlsParameters {
    mode: Option<String>,
    ca: Option<String>,
    cert: Option<String>,
    key: Option<String>,
}

impl TlsParameters {
    /// Returns the field that stores a parameter's value. Returns `None` if the parameter does not concern TLS.
    pub(super) fn place(&mut self, names: &TlsNames, name: &str) -> Option<&mut Option<String>> {
        match name {
            _ if name == names.mode => Some(&mut self.mode),
            _ if name == names.ca => Some(&mut self.ca),
            _ if name == names.cert => Some(&mut self.cert),
            _ if name == names.key => Some(&mut self.key),
            _ => None,
        }
    }

    /// Returns the TLS options for the parameters. Reads no file. Without a mode, a TCP connection is encrypted if the
    /// server offers TLS, so that no password goes in clear text to such a server. `is_local` says that the connection
    /// is by a unix socket. Such a connection is encrypted only for MySQL, and only if the mode says so.
    pub(super) fn tls(self, family: Family, is_local: bool) -> Result<Tls, DsnError> {
        let names = names(family);
        let mode = match &self.mode {
            None => TlsMode::Preferred,
            Some(text) => mode(names, text)?,
        };
        let mode = if is_local && mode == TlsMode::Preferred { TlsMode::Disabled } else { mode };
        let file = |text: Option<String>| text.map(PathBuf::from);
        let tls = Tls { mode, ca: file(self.ca), cert: file(self.cert), key: file(self.key), ciphers: None };
        if let Some(contradiction) = tls.contradiction() {
            return Err(DsnError::Contradiction(contradiction.words(names, &names.written(mode))));
        }
        if is_local && mode != TlsMode::Disabled && family == Family::Postgres {
            let given = names.written(mode);
            return Err(DsnError::Contradiction(format!(
                "{given} needs a host: unix sockets are not encrypted"
            )));
        }
        Ok(tls)
    }
}

fn mode(names: &TlsNames, text: &str) -> Result<TlsMode, DsnError> {
    let known = names.modes.iter().zip(TlsNames::MODES).find(|(name, _)| name.eq_ignore_ascii_case(text));
    known.map(|(_, mode)| mode).ok_or_else(|| DsnError::Value {
        name: names.mode,
        value: text.to_owned(),
        known: names.modes.join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::super::dsn::Dsn;
    use super::*;

    fn tls(text: &str) -> Result<Tls, DsnError> {
        Dsn::parse(text).map(|dsn| dsn.tls)
    }

    #[test]
    fn each_product_s_own_parameters_are_read() {
        let mode = |text: &str| tls(text).unwrap().mode;
        for (name, value) in ["disable", "prefer", "require"].iter().zip(TlsNames::MODES) {
            assert_eq!(mode(&format!("postgres://h?sslmode={name}")), value);
        }
        for (name, value) in ["DISABLED", "preferred", "Required"].iter().zip(TlsNames::MODES) {
            assert_eq!(mode(&format!("mariadb://h?ssl-mode={name}")), value);
        }
        let whole = "postgres://h?sslmode=verify-full&sslrootcert=ca.pem&sslcert=/c.pem&sslkey=/k.pem";
        let file = |name: &str| Some(PathBuf::from(name));
        let expected = Tls {
            mode: TlsMode::VerifyIdentity,
            ca: file("/plans/ca.pem"),
            cert: file("/c.pem"),
            key: file("/k.pem"),
            ciphers: None,
        };
        assert_eq!(Dsn::parse(whole).unwrap().in_folder("/plans".as_ref()).tls, expected);
        let verified = tls("mysql://h?ssl-ca=/ca.pem&ssl-mode=VERIFY_CA").unwrap();
        assert_eq!((verified.mode, verified.ca), (TlsMode::VerifyCa, file("/ca.pem")));
    }

    #[test]
    fn a_network_is_encrypted_if_the_server_can_and_a_socket_if_that_is_asked_for() {
        let mode = |text: &str| tls(text).unwrap().mode;
        assert_eq!(mode("mysql://h"), TlsMode::Preferred);
        assert_eq!(mode("postgres://h"), TlsMode::Preferred);
        assert_eq!(mode("mysql:///?socket=/s"), TlsMode::Disabled);
        assert_eq!(mode("postgres:///?host=/run&sslmode=prefer"), TlsMode::Disabled);
        assert_eq!(mode("mysql:///?socket=/s&ssl-mode=REQUIRED"), TlsMode::Required);
    }

    #[test]
    fn what_does_not_fit_together_is_told() {
        for (text, words) in [
            ("postgres://h?sslmode=allow", "the dsn has sslmode=allow; it may be disable, prefer, require"),
            (
                "postgres://h?ssl-mode=REQUIRED",
                "the parameters are: socket, host, port, user, password, dbname, sslmode",
            ),
            ("mysql://h?sslmode=require", "a parameter 'sslmode'"),
            ("mysql://h?ssl-mode=REQUIRED&ssl-mode=DISABLED", "gives the parameter 'ssl-mode' twice"),
            ("postgres://h?sslmode=verify-ca", "in the dsn, sslmode=verify-ca needs sslrootcert"),
            (
                "mysql://h?ssl-ca=/ca.pem&ssl-mode=REQUIRED",
                "ssl-ca is used with ssl-mode=VERIFY_CA or ssl-mode=VERIFY_IDENTITY, not with ssl-mode=REQUIRED",
            ),
            ("postgres://h?sslrootcert=/ca.pem", "not with sslmode=prefer"),
            ("mysql://h?ssl-cert=/c.pem", "ssl-cert and ssl-key go together"),
            ("postgres://h?sslkey=/k.pem&sslmode=require", "sslcert and sslkey go together"),
            (
                "mysql://h?ssl-cert=/c&ssl-key=/k&ssl-mode=DISABLED",
                "ssl-cert applies only to encrypted connections (ssl-mode=REQUIRED), but these are not encrypted (ssl-mode=DISABLED)",
            ),
            ("postgres:///?host=/run&sslmode=require", "sslmode=require needs a host"),
        ] {
            let error = tls(text).expect_err(text).to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn files_are_looked_at() {
        let check = |text: &str| Dsn::parse(text).unwrap().check_files().map_err(|error| error.to_string());
        assert_eq!(check("mysql://h"), Ok(()));
        let error = check("mysql://h?ssl-mode=VERIFY_CA&ssl-ca=/no/such/ca.pem").unwrap_err();
        assert!(error.starts_with("the dsn names a file that cannot be used: "), "{error}");
        assert!(error.contains("/no/such/ca.pem") && !error.contains('\n'), "{error}");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "PRIVATE words").unwrap();
        let path = file.path().display();
        let error = check(&format!("postgres://h?sslmode=require&sslcert={path}&sslkey={path}")).unwrap_err();
        assert!(error.contains(&path.to_string()) && !error.contains("words"), "{error}");
    }
}

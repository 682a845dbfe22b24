//! Addresses of running servers: the connection URIs of MySQL's and PostgreSQL's own tools.

use std::fmt;
use std::path::{Path, PathBuf};

use dyno_client::{Tls, TlsError, TlsNames, Trust, read_public_key};
use percent_encoding::percent_decode_str;

use super::dsn_error::DsnError;
use super::password::Password;
use super::tls::{self, TlsParameters};
use super::trust::{self, LoginRules, TrustParameters};
use crate::catalogue::entry::Family;

/// The parameters that say where the server listens and which account logs in.
const PARAMETERS: [&str; 6] = ["socket", "host", "port", "user", "password", "dbname"];

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteAddress {
    /// A unix socket of this machine.
    Unix(PathBuf),
    /// A port of a host. The host is given by its name or its IP address.
    Tcp { host: String, port: u16 },
}

/// An address, parsed. It is printed without a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Dsn {
    pub(super) family: Family,
    pub(super) address: RemoteAddress,
    pub(super) user: String,
    password: Password,
    /// The database in the address. `None` if the address names none. Then Dyno makes one.
    pub(super) database: Option<String>,
    pub(super) tls: Tls,
    pub(super) rules: LoginRules,
}

/// The decoded parts of an address. References to a password are not resolved yet.
#[derive(Default)]
struct Parts {
    host: Option<String>,
    port: Option<String>,
    socket: Option<String>,
    user: Option<String>,
    password: Option<String>,
    database: Option<String>,
    tls: TlsParameters,
    trust: TrustParameters,
}

impl Dsn {
    /// The family of the server, according to the scheme.
    pub fn family(&self) -> Family {
        self.family
    }

    /// Parses an address: `mysql://`, `mariadb://` or `postgres://`, then
    /// `[user[:password]@][host[:port]][/database][?name=value&…]`. Instead of a password, `${NAME}` names a variable
    /// of the environment, and `${file:PATH}` names a file. This function does not read the variable or the file.
    ///
    /// # Errors
    /// The text is not such an address.
    pub fn parse(text: &str) -> Result<Self, DsnError> {
        let (scheme, rest) = text.split_once("://").ok_or(DsnError::Scheme)?;
        let family = match scheme {
            "mysql" => Family::Mysql,
            "mariadb" => Family::Mariadb,
            "postgres" | "postgresql" => Family::Postgres,
            _ => return Err(DsnError::Scheme),
        };
        let parts = Parts::split(rest, family)?;
        let (default_user, default_port) = match family {
            Family::Postgres => ("postgres", 5432),
            _ => ("root", 3306),
        };
        let port = match parts.port.as_deref().filter(|port| !port.is_empty()) {
            Some(port) => port.parse().map_err(|_| DsnError::Port { port: port.to_owned() })?,
            None => default_port,
        };
        let filled = |part: Option<String>| part.filter(|text| !text.is_empty());
        let address = address(family, filled(parts.host), filled(parts.socket), port);
        let is_local = matches!(address, RemoteAddress::Unix(_));
        let tls = parts.tls.tls(family, is_local)?;
        Ok(Self {
            family,
            address,
            user: filled(parts.user).unwrap_or_else(|| default_user.to_owned()),
            password: parts.password.map_or(Password::None, Password::of),
            database: filled(parts.database),
            rules: parts.trust.rules(family, tls.mode)?,
            tls,
        })
    }

    /// Resolves the address's relative paths of certificate and key files against a folder.
    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Self {
        let Tls { ca, cert, key, .. } = &mut self.tls;
        for file in [ca, cert, key, &mut self.rules.key_file].into_iter().flatten() {
            *file = folder.join(&*file);
        }
        self
    }

    /// Returns the server and the database, without the user. Two systems with equal results use the same tables.
    pub fn place(&self) -> String {
        format!("{:?} {:?}", self.address, self.database)
    }

    /// Whether the address names a database. Without a name, [`Survey::hold`](super::Survey::hold) makes one.
    pub fn names_database(&self) -> bool {
        self.database.is_some()
    }

    /// Checks the files that the address names, so that mistakes are found early.
    ///
    /// # Errors
    /// A file is missing, or does not contain a certificate or key.
    pub fn check_files(&self) -> Result<(), DsnError> {
        self.tls.check().map_err(|error| DsnError::TlsFile(error.to_string()))?;
        self.trust().map(drop)
    }

    /// Returns what a login may reveal to the server. Reads the server's public key if the address names a file with
    /// this key.
    pub(super) fn trust(&self) -> Result<Trust, DsnError> {
        let unusable = |error: TlsError| DsnError::TlsFile(error.to_string());
        let public_key = self.rules.key_file.as_deref().map(read_public_key).transpose().map_err(unusable)?;
        Ok(Trust { public_key, ..self.rules.trust.clone() })
    }

    /// Whether the address itself contains the password.
    pub fn has_clear_password(&self) -> bool {
        matches!(self.password, Password::Clear(_))
    }

    /// Returns the password in clear text. Empty if there is none. `variable` reads an environment variable.
    pub(super) fn password(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, DsnError> {
        self.password.in_clear(variable)
    }
}

impl Parts {
    /// Splits `[user[:password]@][host[:port]][/database][?name=value&…]`.
    fn split(text: &str, family: Family) -> Result<Self, DsnError> {
        let (text, query) = text.split_once('?').unwrap_or((text, ""));
        // A password may contain an '@', a host cannot.
        let (login, place) =
            text.rsplit_once('@').map_or((None, text), |(login, place)| (Some(login), place));
        let (host, database) = place.split_once('/').unwrap_or((place, ""));
        let (host, port) = split_port(host)?;
        let mut parts = Self {
            host: Some(decode(host, "host")?),
            port: port.map(ToOwned::to_owned),
            database: Some(decode(database, "database")?),
            ..Self::default()
        };
        if let Some(login) = login {
            let (user, password) =
                login.split_once(':').map_or((login, None), |(user, word)| (user, Some(word)));
            parts.user = Some(decode(user, "user")?);
            parts.password = password.map(|word| decode(word, "password")).transpose()?;
        }
        parts.read_parameters(query, family)?;
        Ok(parts)
    }

    /// Reads `name=value&…`. A parameter overrides the part of the address with the same meaning.
    fn read_parameters(&mut self, query: &str, family: Family) -> Result<(), DsnError> {
        let mut seen = Vec::new();
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let place = match name {
                "socket" => &mut self.socket,
                "host" => &mut self.host,
                "port" => &mut self.port,
                "user" => &mut self.user,
                "password" => &mut self.password,
                "dbname" => &mut self.database,
                _ => {
                    let place = self.tls.place(tls::names(family), name);
                    place
                        .or_else(|| self.trust.place(family, name))
                        .ok_or_else(|| unknown_parameter(name, family))?
                }
            };
            if seen.contains(&name) {
                return Err(DsnError::Twice { name: name.to_owned() });
            }
            seen.push(name);
            *place = Some(decode(value, "parameter")?);
        }
        Ok(())
    }
}

fn unknown_parameter(name: &str, family: Family) -> DsnError {
    let TlsNames { mode, ca, cert, key, .. } = tls::names(family);
    let known = [PARAMETERS.as_slice(), &[mode, ca, cert, key], trust::names(family)].concat().join(", ");
    DsnError::Parameter { name: name.to_owned(), known }
}

/// Splits `host`, `host:port` or `[::1]:port`.
fn split_port(text: &str) -> Result<(&str, Option<&str>), DsnError> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or(DsnError::Malformed { part: "host" })?;
        let port = rest.strip_prefix(':');
        return if rest.is_empty() || port.is_some() {
            Ok((host, port))
        } else {
            Err(DsnError::Malformed { part: "host" })
        };
    }
    Ok(text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))))
}

/// The address of a server. A host that is a path names a socket. For PostgreSQL, it names the socket's folder, as
/// in PostgreSQL's own tools.
fn address(family: Family, host: Option<String>, socket: Option<String>, port: u16) -> RemoteAddress {
    let path = socket.or_else(|| host.clone().filter(|host| host.starts_with('/')));
    match path.map(PathBuf::from) {
        Some(path) if family == Family::Postgres && !path.to_string_lossy().contains(".s.PGSQL.") => {
            RemoteAddress::Unix(path.join(format!(".s.PGSQL.{port}")))
        }
        Some(path) => RemoteAddress::Unix(path),
        None => RemoteAddress::Tcp { host: host.unwrap_or_else(|| "127.0.0.1".to_owned()), port },
    }
}

fn decode(text: &str, part: &'static str) -> Result<String, DsnError> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(std::borrow::Cow::into_owned).map_err(|_| DsnError::Malformed { part })
}

/// Prints the address without the password.
impl fmt::Display for Dsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { family, address, user, password: _, database, tls: _, rules: _ } = self;
        let scheme = match family {
            Family::Postgres => "postgres",
            Family::Mariadb => "mariadb",
            Family::Mysql | Family::Sqlite => "mysql",
        };
        let path = database.as_ref().map_or(String::new(), |database| format!("/{database}"));
        match address {
            RemoteAddress::Unix(socket) => {
                let path = if path.is_empty() { "/" } else { &path };
                write!(f, "{scheme}://{user}@{path}?socket={}", socket.display())
            }
            RemoteAddress::Tcp { host, port } if host.contains(':') => {
                write!(f, "{scheme}://{user}@[{host}]:{port}{path}")
            }
            RemoteAddress::Tcp { host, port } => write!(f, "{scheme}://{user}@{host}:{port}{path}"),
        }
    }
}

impl fmt::Debug for Dsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dsn({self})")
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn password(text: &str) -> Result<String, DsnError> {
        Dsn::parse(text)?.password(&|name| (name == "SECRET").then(|| "open sesame".to_owned()))
    }

    fn shown(text: &str) -> String {
        Dsn::parse(text).unwrap().to_string()
    }

    #[test]
    fn every_form_of_an_address_is_read() {
        assert_eq!(shown("mysql://me:x@db.test:3307/bench"), "mysql://me@db.test:3307/bench");
        assert_eq!(shown("mysql://db.test"), "mysql://root@db.test:3306");
        assert_eq!(shown("postgresql://[::1]/bench"), "postgres://postgres@[::1]:5432/bench");
        assert_eq!(shown("mariadb://me@?socket=/run/m.sock"), "mariadb://me@/?socket=/run/m.sock");
        assert_eq!(shown("mariadb://me@/b?socket=/run/m.sock"), "mariadb://me@/b?socket=/run/m.sock");
        assert_eq!(shown("mysql://me@%2Frun%2Fm.sock/b"), "mysql://me@/b?socket=/run/m.sock");
        assert_eq!(
            shown("postgres:///b?host=/run/postgresql&port=5433&user=me"),
            "postgres://me@/b?socket=/run/postgresql/.s.PGSQL.5433"
        );
    }

    #[test]
    fn a_password_may_be_in_the_environment_or_a_file_and_is_never_shown() {
        assert_eq!(password("mysql://me:a%40b@c@db.test").unwrap(), "a@b@c");
        assert_eq!(password("mysql://me:${SECRET}@db.test/b").unwrap(), "open sesame");
        assert_eq!(password("mysql://me@db.test/b").unwrap(), "");
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "from a file\n").unwrap();
        let in_a_file = format!("mysql://me@db.test?password=${{file:{}}}", file.path().display());
        assert_eq!(password(&in_a_file).unwrap(), "from a file");
        assert!(!Dsn::parse(&in_a_file).unwrap().has_clear_password());
        let wherever = [
            "mysql://me:hunter2@db.test/b",
            "mysql://me@db.test/b?password=hunter2",
            "mysql://db.test?user=me&password=%68unter2",
            "postgres:///b?password=${hunter2",
        ];
        for text in wherever {
            let dsn = Dsn::parse(text).unwrap();
            assert!(dsn.has_clear_password(), "{text}");
            assert!(!format!("{dsn} {dsn:?}").contains("hunter2"), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_without_the_password() {
        let error = |text| password(text).unwrap_err();
        assert_eq!(error("db.test"), DsnError::Scheme);
        assert_eq!(error("oracle://db.test"), DsnError::Scheme);
        assert_eq!(error("mysql://me:secret@db.test:x/b"), DsnError::Port { port: "x".to_owned() });
        let known = "socket, host, port, user, password, dbname, ssl-mode, ssl-ca, ssl-cert, ssl-key, \
                     connect-timeout, get-server-public-key, server-public-key-path, enable-cleartext-plugin";
        assert_eq!(
            error("mysql://me@db.test?ssl=1"),
            DsnError::Parameter { name: "ssl".to_owned(), known: known.to_owned() }
        );
        assert_eq!(error("mysql://db.test?port=1&port=1"), DsnError::Twice { name: "port".to_owned() });
        assert_eq!(error("mysql://me:${NONE}@h"), DsnError::Variable { variable: "NONE".to_owned() });
        assert_eq!(error("mysql://[::1/b"), DsnError::Malformed { part: "host" });
        assert_eq!(error("mysql://[::1]3306/b"), DsnError::Malformed { part: "host" });
        assert_eq!(error("mysql://me:%ff@h"), DsnError::Malformed { part: "password" });
        let text = error("mysql://me:${file:/nowhere/p}@h").to_string();
        assert!(text.contains("/nowhere/p"), "{text}");
    }
}

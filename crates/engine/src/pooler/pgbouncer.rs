//! `PgBouncer`. Its configuration: <https://www.pgbouncer.org/config.html>.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::cache::home::Home;
use crate::start::access::Access;
use crate::start::server::error::StartError;

pub(super) const OWN_SETTINGS: &[&str] = &[
    "auth_file",
    "auth_type",
    "conffile",
    "listen_addr",
    "listen_port",
    "logfile",
    "pidfile",
    "syslog",
    "unix_socket_dir",
    "user",
];
/// The setting for the maximum number of clients. The default of `PgBouncer` is 100, but many measurements have more
/// clients.
const CLIENTS_MAX: (&str, &str) = ("max_client_conn", "10000");

pub(super) fn command(
    program: &Path,
    home: &Home,
    server: &Access,
    settings: &BTreeMap<String, String>,
) -> Result<Command, StartError> {
    // Quotes in a name or a password would have to be doubled, but Dyno's names and passwords have none.
    let account = format!("\"{}\" \"{}\"\n", server.user, server.password);
    let accounts = home.write_for_server("accounts", &account)?;
    let file =
        home.write_for_server("pgbouncer.ini", &configuration(home.sockets(), &accounts, server, settings))?;
    let mut command = Command::new(program);
    command.arg(file);
    Ok(command)
}

/// Returns the text of the configuration file. Through the pooler, clients reach every database of the server under
/// their own account.
fn configuration(
    sockets: &Path,
    accounts: &Path,
    server: &Access,
    settings: &BTreeMap<String, String>,
) -> String {
    let of_server = server.socket.parent().unwrap_or(Path::new("/"));
    let mut text = format!(
        "[databases]\n* = host={} port={}\n[pgbouncer]\nlisten_addr =\nlisten_port = {}\nunix_socket_dir = {}\n\
         auth_type = scram-sha-256\nauth_file = {}\n",
        of_server.display(),
        server.port,
        server.port,
        sockets.display(),
        accounts.display(),
    );
    let (name, value) = CLIENTS_MAX;
    let clients_max = (!settings.contains_key(name)).then_some((name, value));
    let asked = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in clients_max.into_iter().chain(asked) {
        let _ = writeln!(text, "{name} = {value}");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn settings_follow_what_dyno_sets_and_replace_its_default() {
        let server = Access {
            engine: "postgres".to_owned(),
            version: "18.4".to_owned(),
            socket: PathBuf::from("/run/s/.s.PGSQL.5433"),
            port: 5433,
            user: "postgres".to_owned(),
            password: "word".to_owned(),
            pid: 1,
            datadir: PathBuf::from("/d"),
        };
        let of = |settings: &[(&str, &str)]| {
            let settings =
                settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            configuration(Path::new("/run/p"), Path::new("/home/accounts"), &server, &settings)
        };
        let text = of(&[("pool_mode", "transaction")]);
        assert!(text.starts_with("[databases]\n* = host=/run/s port=5433\n[pgbouncer]\n"), "{text}");
        assert!(text.ends_with("max_client_conn = 10000\npool_mode = transaction\n"), "{text}");
        assert!(!text.contains("word"), "the password is in the other file");
        assert!(of(&[("max_client_conn", "7")]).ends_with("\nmax_client_conn = 7\n"));
    }
}

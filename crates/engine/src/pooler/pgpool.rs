//! Pgpool-II, as a pooler in front of one server. Its configuration:
//! <https://www.pgpool.net/docs/43/en/html/runtime-config.html>.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use dyno_client::Client;

use crate::cache::home::Home;
use crate::start::access::Access;
use crate::start::server::error::StartError;

pub(super) const OWN_SETTINGS: &[&str] = &[
    "backend_clustering_mode",
    "backend_flag0",
    "backend_hostname0",
    "backend_port0",
    "enable_pool_hba",
    "listen_addresses",
    "logdir",
    "pcp_listen_addresses",
    "pcp_port",
    "pcp_socket_dir",
    "pid_file_name",
    "pool_passwd",
    "port",
    "socket_dir",
    "unix_socket_directories",
];

pub(super) fn command(
    program: &Path,
    home: &Home,
    server: &Access,
    settings: &BTreeMap<String, String>,
) -> Result<Command, StartError> {
    // Pgpool-II searches the file of accounts in the folder of its configuration file.
    home.write_for_server("accounts", &format!("{}:TEXT{}\n", server.user, server.password))?;
    let file = home.write_for_server(
        "pgpool.conf",
        &configuration(home.sockets(), &home.temporary(), server, settings),
    )?;
    let mut command = Command::new(program);
    // The file `pcp.conf` lists the accounts that may control the pooler. It does not exist, so no account may control
    // the pooler.
    command.arg("-n").arg("-f").arg(file).arg("-F").arg(home.folder().join("pcp.conf"));
    Ok(command)
}

/// Asks the pooler for each setting, because it ignores settings that it does not know.
pub(super) fn check(client: &mut Client, settings: &BTreeMap<String, String>) -> Result<(), StartError> {
    settings.keys().try_for_each(|name| match client.query(&format!("PGPOOL SHOW {name}")) {
        Ok(_) => Ok(()),
        Err(error) => {
            let (name, source) = (name.clone(), Box::new(error));
            Err(StartError::PoolerSetting { program: "pgpool", name, source })
        }
    })
}

fn configuration(
    sockets: &Path,
    temporary: &Path,
    server: &Access,
    settings: &BTreeMap<String, String>,
) -> String {
    let of_server = server.socket.parent().unwrap_or(Path::new("/")).display().to_string();
    let (sockets, temporary) = (sockets.display().to_string(), temporary.display());
    let port = server.port.to_string();
    let own = [
        ("backend_clustering_mode", "raw"),
        ("backend_hostname0", &of_server),
        ("backend_port0", &port),
        // With this flag, the pooler uses a server again after the server's restart.
        ("backend_flag0", "DISALLOW_TO_FAILOVER"),
        ("listen_addresses", ""),
        ("port", &port),
        // The second of the next two names is for version 4.4 and later.
        ("socket_dir", &sockets),
        ("unix_socket_directories", &sockets),
        ("pcp_listen_addresses", ""),
        ("pcp_port", &port),
        ("pcp_socket_dir", &temporary.to_string()),
        ("pid_file_name", &format!("{temporary}/pgpool.pid")),
        ("logdir", &temporary.to_string()),
        ("enable_pool_hba", "off"),
        ("pool_passwd", "accounts"),
    ];
    let asked = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut text = String::new();
    for (name, value) in own.into_iter().chain(asked) {
        let _ = writeln!(text, "{name} = '{}'", value.replace('\'', "''"));
    }
    text
}

//! Galera: a cluster of MariaDB servers. A commit returns once all nodes have received the transaction and agree on its
//! place in the cluster's order of transactions. Each node takes writes. Dyno calls the first node the primary.
//!
//! A node of a new cluster usually gets its data from another node. Here, all nodes begin on equal data instead. Each
//! node knows the position of its data in the cluster's order, and so asks only for later transactions.

mod position;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use dyno_client::{Client, ClientError};

use self::position::Position;
use super::{ReplicaStatus, Replicating};
use crate::catalogue::entry::Family;
use crate::family::mysqld;
use crate::family::site::Site;
use crate::machine::path_error::{At as _, PathError};
use crate::replication::failover::Progress;
use crate::replication::role::{Replication, Role};
use crate::start::access::Access;
use crate::start::server::begin::run;
use crate::start::server::error::{GaleraObstacle, StartError};

/// Settings of a node that Dyno sets, because the node's role decides them.
const OF_ROLE: [&str; 11] = [
    "binlog_format",
    "innodb_autoinc_lock_mode",
    "wsrep_cluster_address",
    "wsrep_cluster_name",
    "wsrep_node_address",
    "wsrep_on",
    "wsrep_provider",
    PROVIDER_OPTIONS,
    "wsrep_sst_method",
    "wsrep_sst_receive_address",
    "wsrep_start_position",
];
/// The setting that contains the options of Galera itself. In its value, the user's options precede Dyno's options,
/// which override them.
const PROVIDER_OPTIONS: &str = "wsrep_provider_options";
/// Where packages put Galera's library, in an installation and on the host.
const LIBRARIES: [&str; 5] = [
    "usr/lib/libgalera_smm.so",
    "usr/lib/galera/libgalera_smm.so",
    "usr/lib64/galera-4/libgalera_smm.so",
    "lib/libgalera_smm.so",
    "lib/galera-4/libgalera_smm.so",
];
/// The address on which nodes talk to each other. Clients use another address with the same port.
const GROUP_HOST: &str = "127.0.0.2";
/// The address on which a node receives the transactions that it has missed. The port is the same as the server's.
const MISSED_HOST: &str = "127.0.0.3";
/// The program that a node runs to get its data from another node. Galera requires that its name is `wsrep_sst_` and
/// the name of the method.
const TRANSFER: &str = "wsrep_sst_dyno";
const TRANSFER_SCRIPT: &str = include_str!("transfer.sh");
const TRANSFER_METHOD: &str = "dyno";
/// The file from which [`TRANSFER`] reads the position of a node's data when the node starts.
const POSITION: &str = "galera-position";
/// The file with the addresses of a primary's replicas. A primary that starts again joins these replicas.
const PEERS: &str = "galera-peers";
/// Limit of the lines that `--wsrep-recover` writes to the log.
const RECOVERY_LINES: usize = 400;
/// Time limit for a node to have a quorum after another node is gone. Galera gives up a silent node after 5 to
/// 15 s.
const QUORUM_PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub(crate) struct GaleraReplication;

impl Replicating for GaleraReplication {
    fn check(&self, site: &Site<'_>) -> Result<(), StartError> {
        let entry = site.entry();
        let obstacle = if site.installation.image.is_some() {
            GaleraObstacle::Container
        } else if entry.family != Family::Mariadb || !entry.is_at_least(10, 4) {
            GaleraObstacle::Server
        } else if site.storage_engine.is_some_and(|name| !name.eq_ignore_ascii_case("innodb")) {
            GaleraObstacle::StorageEngine
        } else if library(site).is_none() {
            GaleraObstacle::Library
        } else {
            return Ok(());
        };
        Err(StartError::NoGalera { entry: entry.to_string(), obstacle })
    }

    fn own_settings(&self) -> &'static [&'static str] {
        &OF_ROLE
    }

    fn local_statement(&self) -> Option<&'static str> {
        Some("SET SESSION wsrep_on = OFF")
    }

    fn before_start(&self, site: &Site<'_>) -> Result<(), StartError> {
        let data = site.home.data();
        let position = match Position::read(&data)? {
            Some(position) if position.is_known() => Some(position),
            // The server was killed, so its data folder does not record the position. The server's program finds it.
            Some(_) => recovered(site)?,
            None => None,
        };
        let position = match position {
            Some(position) => position,
            None => first(site, &data)?,
        };
        position.write(&data)?;
        site.home.write_for_server(POSITION, &format!("{position}\n"))?;
        let path = site.home.write_for_server(TRANSFER, TRANSFER_SCRIPT)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).at("change", &path)?;
        Ok(())
    }

    fn arguments(&self, site: &Site<'_>) -> Vec<String> {
        let address = match site.role {
            Role::Replica { primary, .. } => group(primary.port),
            Role::Primary(_) | Role::Alone => {
                fs::read_to_string(site.home.folder().join(PEERS)).unwrap_or_default()
            }
        };
        let mut arguments = node(site, &address);
        if let Ok(position) = fs::read_to_string(site.home.folder().join(POSITION)) {
            arguments.push(format!("--wsrep-start-position={}", position.trim_end()));
        }
        arguments
    }

    fn environment(&self, site: &Site<'_>) -> Option<(&'static str, OsString)> {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = [site.home.folder().to_owned()].into_iter().chain(env::split_paths(&path));
        Some(("PATH", env::join_paths(folders).ok()?))
    }

    fn is_ready(&self, client: &mut Client) -> Result<bool, ClientError> {
        Ok(Status::of(client)?.is_ready())
    }

    fn remember(&self, primary: &Site<'_>, replicas: &[Access]) -> Result<(), PathError> {
        let addresses: Vec<String> = replicas.iter().map(|replica| group(replica.port)).collect();
        primary.home.write_secret(PEERS, &addresses.join(",")).map(drop)
    }

    fn progress(&self, client: &mut Client) -> Result<Progress, ClientError> {
        let status = Status::of(client)?;
        let applied = status.number("last_committed");
        Ok(Progress { received: (0, applied + status.number("local_recv_queue")), applied: (0, applied) })
    }

    /// Returns true: the network is cut at the primary. If it were cut at each replica, the replicas could not reach
    /// each other, and no majority could continue.
    fn is_primary_cut_off(&self) -> bool {
        true
    }

    fn cut_off(&self, client: &mut Client) -> Result<(), ClientError> {
        client.query("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=1'").map(drop)
    }

    /// Waits until the nodes continue without the primary. A majority of the nodes does so by itself after it notices
    /// that the primary is gone. A minority, such as one node of two, continues after `pc.bootstrap` is set. If there
    /// is no quorum within the time limit, this returns without an error, and the first write fails.
    fn promote(&self, client: &mut Client, replication: &Replication) -> Result<(), ClientError> {
        let deadline = Instant::now() + QUORUM_PATIENCE;
        loop {
            let status = Status::of(client)?;
            let is_alone = status.number("cluster_size") <= u64::from(replication.replicas);
            if is_alone && status.is_ready() || Instant::now() > deadline {
                return Ok(());
            }
            if status.text("cluster_status").eq_ignore_ascii_case("non-primary") {
                client.query("SET GLOBAL wsrep_provider_options = 'pc.bootstrap=1'")?;
            }
            thread::sleep(POLL);
        }
    }

    fn status(&self, client: &mut Client) -> Result<ReplicaStatus, ClientError> {
        let status = Status::of(client)?;
        let stopped = (!status.is_ready()).then(|| {
            let [state, cluster] = ["local_state_comment", "cluster_status"].map(|name| status.text(name));
            format!("its state in the cluster is {state:?}, the cluster's {cluster:?}")
        });
        Ok(ReplicaStatus { behind_seconds: None, stopped })
    }

    fn waited_for(&self, client: &mut Client) -> Result<u32, ClientError> {
        let status = Status::of(client)?;
        Ok(if status.is_ready() { (status.number("cluster_size") as u32).saturating_sub(1) } else { 0 })
    }
}

/// The status variables of a node, by their names without `wsrep_`.
struct Status(Vec<(String, String)>);

impl Status {
    fn of(client: &mut Client) -> Result<Self, ClientError> {
        let rows = client.query("SHOW GLOBAL STATUS LIKE 'wsrep\\_%'")?.rows;
        let of_row = |row: Vec<Option<String>>| {
            let mut cells = row.into_iter().flatten();
            Some((cells.next()?.strip_prefix("wsrep_")?.to_owned(), cells.next()?))
        };
        Ok(Self(rows.into_iter().filter_map(of_row).collect()))
    }

    /// The value of a variable. Empty if the node does not show it.
    fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    fn number(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap_or(0)
    }

    /// Whether the node accepts statements.
    fn is_ready(&self) -> bool {
        self.text("ready") == "ON" && self.text("cluster_status") == "Primary"
    }
}

/// Returns the address at which other nodes reach a node with this port.
fn group(port: u16) -> String {
    format!("{GROUP_HOST}:{port}")
}

/// Returns the path of Galera's library, in the installation or on the host.
fn library(site: &Site<'_>) -> Option<PathBuf> {
    let roots = [site.installation.root.as_path(), Path::new("/")];
    let paths = roots.iter().flat_map(|root| LIBRARIES.iter().map(move |path| root.join(path)));
    paths.into_iter().find(|path| path.is_file())
}

/// Arguments of a node that joins the nodes at the addresses `others`. If `others` is empty, the node begins a
/// cluster.
fn node(site: &Site<'_>, others: &str) -> Vec<String> {
    let own = group(site.port);
    let of_user = site.settings.iter().filter(|(name, _)| name.replace('-', "_") == PROVIDER_OPTIONS);
    let mut options: Vec<String> = of_user.map(|(_, value)| value.clone()).collect();
    options.extend([
        format!("base_host={GROUP_HOST}"),
        format!("base_port={}", site.port),
        format!("gmcast.listen_addr=tcp://{own}"),
        format!("ist.recv_addr={MISSED_HOST}:{}", site.port),
        // The transactions that a node keeps for other nodes are not part of its data, so they are stored outside the
        // data folder.
        format!("gcache.dir={}", site.home.temporary().display()),
        // A node that starts again finds the other nodes by the addresses in its arguments, and not by a file.
        "pc.recovery=no".to_owned(),
    ]);
    let library = library(site).unwrap_or_default();
    let mut arguments = vec![
        "--wsrep-on=ON".to_owned(),
        format!("--wsrep-provider={}", library.display()),
        "--wsrep-cluster-name=dyno".to_owned(),
        format!("--wsrep-cluster-address=gcomm://{others}"),
        format!("--wsrep-node-address={own}"),
        format!("--wsrep-sst-method={TRANSFER_METHOD}"),
        format!("--wsrep-provider-options={}", options.join(";")),
        "--binlog-format=ROW".to_owned(),
        "--innodb-autoinc-lock-mode=2".to_owned(),
    ];
    if others.is_empty() {
        arguments.push("--wsrep-new-cluster".to_owned());
    }
    arguments
}

/// Makes a node's data from data that was in no cluster. For this, the server starts on the data as a cluster of one
/// node, and shuts down. The resulting position is the same on every server with that data.
fn first(site: &Site<'_>, data: &Path) -> Result<Position, StartError> {
    Position::first().write(data)?;
    let shutdown = site.home.write_for_server("shutdown.sql", "SHUTDOWN;\n")?;
    let mut command = alone(site);
    command.args(node(site, "")).arg(format!("--init-file={}", shutdown.display()));
    run(site, command, None)?;
    fs::remove_file(&shutdown).at("remove", &shutdown)?;
    Position::read(data)?.filter(Position::is_known).ok_or_else(|| no_position(site))
}

/// The position of a node that was killed. `None` if its data was in no cluster.
fn recovered(site: &Site<'_>) -> Result<Option<Position>, StartError> {
    let mut command = alone(site);
    command.args(node(site, "")).arg("--wsrep-recover");
    run(site, command, None)?;
    let lines = site.home.log_tail(RECOVERY_LINES);
    let position = lines.iter().rev().find_map(|line| Position::of_log(line));
    position.map(|position| position.is_known().then_some(position)).ok_or_else(|| no_position(site))
}

fn no_position(site: &Site<'_>) -> StartError {
    StartError::NoGalera { entry: site.entry().to_string(), obstacle: GaleraObstacle::Position }
}

/// Returns a command for the server's program that takes no connections of clients.
fn alone(site: &Site<'_>) -> Command {
    let mut command = mysqld::program(site);
    let socket = site.home.temporary().join("alone.sock");
    command.arg("--skip-networking").arg(format!("--socket={}", socket.display()));
    command.arg(format!("--pid-file={}", site.home.temporary().join("alone.pid").display()));
    command
}

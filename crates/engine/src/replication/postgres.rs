//! Streaming replication of PostgreSQL.

use std::fmt::Write as _;
use std::time::Duration;

use dyno_client::{Client, ClientError};

use super::{ReplicaStatus, Replicating, write_new};
use crate::family::site::Site;
use crate::replication::failover::Progress;
use crate::replication::role::{Replication, ReplicationMode, Role};
use crate::start::server::error::StartError;

/// Log that a primary keeps for replicas that fall behind, in MB.
const KEPT_MB: u32 = 1024;
/// Connections of replicas that a primary takes. A replica needs as many as any primary that worked on its data before.
const SENDERS: u32 = 20;
/// Settings that a replica has at least as high as the server that made its data, with initdb's values.
const LEAST: [(&str, u32); 4] = [
    ("max_connections", 100),
    ("max_locks_per_transaction", 64),
    ("max_wal_senders", SENDERS),
    ("max_worker_processes", 8),
];
/// Time between two looks whether a replica still receives.
const POLL: Duration = Duration::from_millis(2);
/// Size of a file of the log, in MB.
const SEGMENT_MB: u32 = 16;

#[derive(Debug)]
pub(crate) struct PostgresReplication;

impl Replicating for PostgresReplication {
    /// Version 9.6 creates data folders with a log that is too small for replicas.
    fn check(&self, site: &Site<'_>) -> Result<(), StartError> {
        match site.role {
            Role::Primary(_) | Role::Replica { .. } if site.entry().version_number(0) < 10 => {
                Err(StartError::NoReplicas { entry: site.entry().to_string() })
            }
            _ => Ok(()),
        }
    }

    fn arguments(&self, site: &Site<'_>) -> Vec<String> {
        let Some(replication) = site.role.replication() else { return Vec::new() };
        let version = site.entry().version_number(0);
        // A replica needs the primary's values.
        let mut settings = vec![
            "wal_level=replica".to_owned(),
            format!("max_wal_senders={SENDERS}"),
            "hot_standby=on".to_owned(),
        ];
        settings.push(if version >= 13 {
            format!("wal_keep_size={KEPT_MB}MB")
        } else {
            format!("wal_keep_segments={}", KEPT_MB / SEGMENT_MB)
        });
        if matches!(site.role, Role::Primary(_)) && replication.mode != ReplicationMode::Asynchronous {
            settings.push(format!("synchronous_standby_names={}", standbys(replication)));
        }
        settings.into_iter().flat_map(|setting| ["-c".to_owned(), setting]).collect()
    }

    fn prepare(&self, site: &Site<'_>) -> Result<(), StartError> {
        let Role::Replica { number, replication, primary } = site.role else { return Ok(()) };
        let mut text = format!(
            "primary_conninfo = 'host={} port={} user={} password={} application_name={} sslmode=disable'\n",
            site.address(),
            primary.port,
            primary.user,
            primary.password,
            standby(*number)
        );
        if replication.delay_seconds > 0 {
            let _ = writeln!(text, "recovery_min_apply_delay = '{}s'", replication.delay_seconds);
        }
        let data = site.home.data();
        if site.entry().version_number(0) >= 12 {
            write_new(&data.join("standby.signal"), "")?;
            write_new(&data.join("postgresql.auto.conf"), &text)?;
        } else {
            write_new(&data.join("recovery.conf"), &format!("standby_mode = on\n{text}"))?;
        }
        Ok(())
    }

    fn status(&self, client: &mut Client) -> Result<ReplicaStatus, ClientError> {
        let found = client.query("SELECT extract(epoch FROM now() - pg_last_xact_replay_timestamp())")?;
        let behind = found.rows.into_iter().flatten().flatten().next();
        // It tries for ever to reach its primary, and says only in its log why it cannot.
        Ok(ReplicaStatus { behind_seconds: behind.and_then(|text| text.parse().ok()), stopped: None })
    }

    fn progress(&self, client: &mut Client) -> Result<Progress, ClientError> {
        let byte = |function: &str| format!("coalesce(pg_wal_lsn_diff({function}(), '0/0'), 0)::bigint");
        let sql = format!("SELECT {}, {}", byte("pg_last_wal_receive_lsn"), byte("pg_last_wal_replay_lsn"));
        let mut numbers =
            client.query(&sql)?.rows.into_iter().flatten().flatten().map(|it| it.parse().unwrap_or(0));
        let mut next = || (0, numbers.next().unwrap_or(0));
        Ok(Progress { received: next(), applied: next() })
    }

    /// A server from version 13 on reads the address of its primary again.
    fn cut_off(&self, client: &mut Client) -> Result<(), ClientError> {
        client.query("ALTER SYSTEM SET primary_conninfo = ''")?;
        client.query("SELECT pg_reload_conf()")?;
        // The process that receives ends soon after.
        let is_there = |client: &mut Client| {
            Ok::<bool, ClientError>(!client.query("SELECT 1 FROM pg_stat_wal_receiver")?.rows.is_empty())
        };
        while is_there(client)? {
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    /// The server first applies everything that it has received. The function is there from version 12 on.
    fn promote(&self, client: &mut Client, _replication: &Replication) -> Result<(), ClientError> {
        client.query("SELECT pg_promote(true, 60)").map(drop)
    }

    fn waited_for(&self, client: &mut Client) -> Result<u32, ClientError> {
        let sql = "SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')";
        let count = client.query(sql)?.rows.into_iter().flatten().flatten().next();
        Ok(count.and_then(|text| text.parse().ok()).unwrap_or(0))
    }
}

impl PostgresReplication {
    /// Arguments that follow the user's settings. A replica does not start with smaller values than the data was made
    /// with: those of the user's settings, or the defaults.
    pub(crate) fn least(site: &Site<'_>) -> Vec<String> {
        let Role::Replica { .. } = site.role else { return Vec::new() };
        let value = |name: &str| site.settings.iter().rfind(|(own, _)| own == name)?.1.parse::<u32>().ok();
        let raised = LEAST.iter().filter(|(name, least)| value(name).is_some_and(|own| own < *least));
        raised.flat_map(|(name, least)| ["-c".to_owned(), format!("{name}={least}")]).collect()
    }
}

/// The names of the standbys that commits wait for.
fn standbys(replication: &Replication) -> String {
    let names: Vec<String> = (1..=replication.replicas).map(standby).collect();
    let waits_for = replication.mode.waits_for(replication.replicas);
    format!("ANY {waits_for} ({})", names.join(", "))
}

fn standby(number: u32) -> String {
    format!("replica{number}")
}

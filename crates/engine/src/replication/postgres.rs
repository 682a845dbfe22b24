//! Streaming replication of PostgreSQL.

use std::fmt::Write as _;

use dyno_client::{Client, ClientError, ResultSet};

use super::{ReplicaStatus, Replicating, write_new};
use crate::family::site::Site;
use crate::replication::failover::Progress;
use crate::replication::role::{Replication, ReplicationMode, Role};
use crate::start::server::error::StartError;

/// How much WAL a primary keeps for replicas that fall behind, in MB.
const KEPT_MB: u32 = 1024;
/// The value of `max_wal_senders`: the maximum number of replicas' connections that a primary takes. A replica does not
/// start if its value is smaller than the value of a primary that has written the replica's data.
const SENDERS: u32 = 20;
/// Minimal values of a replica's settings. A replica does not start with smaller values than those of the server that
/// wrote its data. The values here are the defaults of initdb, except for [`SENDERS`].
const LEAST: [(&str, u32); 4] = [
    ("max_connections", 100),
    ("max_locks_per_transaction", 64),
    ("max_wal_senders", SENDERS),
    ("max_worker_processes", 8),
];
/// Size of a file of the log, in MB.
const SEGMENT_MB: u32 = 16;
/// The SQLSTATE of a statement that a replica cancelled because the statement was in the way of the replay of the log.
const CANCELLED: &str = "40001";
/// A statement that is cancelled is sent at most this many times. Each time, the replay has got further.
const SENT_MAX: u32 = 20;

#[derive(Debug)]
pub(crate) struct PostgresReplication;

impl Replicating for PostgresReplication {
    /// Refuses versions before 10. They create data folders with `wal_level = minimal`, and a replica cannot start on
    /// such data.
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
        // Primary and replicas get the same values of these settings, because a replica needs the values of its
        // primary.
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
        let found = query(client, "SELECT extract(epoch FROM now() - pg_last_xact_replay_timestamp())")?;
        let behind = found.rows.into_iter().flatten().flatten().next();
        // A replica tries for ever to reach its primary. Only the replica's log says why it cannot, so `stopped` is
        // `None`.
        Ok(ReplicaStatus { behind_seconds: behind.and_then(|text| text.parse().ok()), stopped: None })
    }

    fn progress(&self, client: &mut Client) -> Result<Progress, ClientError> {
        let byte = |function: &str| format!("coalesce(pg_wal_lsn_diff({function}(), '0/0'), 0)::bigint");
        let sql = format!("SELECT {}, {}", byte("pg_last_wal_receive_lsn"), byte("pg_last_wal_replay_lsn"));
        let mut numbers =
            query(client, &sql)?.rows.into_iter().flatten().flatten().map(|it| it.parse().unwrap_or(0));
        let mut next = || (0, numbers.next().unwrap_or(0));
        Ok(Progress { received: next(), applied: next() })
    }

    /// Removes the address of the primary from the replica's settings. From version 13 on, a reload applies this.
    fn cut_off(&self, client: &mut Client) -> Result<(), ClientError> {
        query(client, "ALTER SYSTEM SET primary_conninfo = ''")?;
        query(client, "SELECT pg_reload_conf()")?;
        // This statement waits in the server until the process that receives the log has ended. Its time limit is the
        // client's time limit for an answer.
        query(
            client,
            "DO $$ BEGIN WHILE EXISTS (SELECT 1 FROM pg_stat_wal_receiver) LOOP PERFORM pg_sleep(0.005); END LOOP; END $$",
        )?;
        Ok(())
    }

    /// Calls `pg_promote`, which first applies all received WAL. Version 12 and later have it.
    fn promote(&self, client: &mut Client, _replication: &Replication) -> Result<(), ClientError> {
        query(client, "SELECT CASE WHEN pg_is_in_recovery() THEN pg_promote(true, 60) END").map(drop)
    }

    fn waited_for(&self, client: &mut Client) -> Result<u32, ClientError> {
        let sql = "SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')";
        let count = client.query(sql)?.rows.into_iter().flatten().flatten().next();
        Ok(count.and_then(|text| text.parse().ok()).unwrap_or(0))
    }
}

impl PostgresReplication {
    /// Returns arguments that follow the user's settings and override them. The arguments raise the settings that are
    /// too low for a replica. A replica does not start with lower values than those of the server that wrote its data.
    pub(crate) fn least(site: &Site<'_>) -> Vec<String> {
        let Role::Replica { .. } = site.role else { return Vec::new() };
        let value = |name: &str| site.settings.iter().rfind(|(own, _)| own == name)?.1.parse::<u32>().ok();
        let raised = LEAST.iter().filter(|(name, least)| value(name).is_some_and(|own| own < *least));
        raised.flat_map(|(name, least)| ["-c".to_owned(), format!("{name}={least}")]).collect()
    }
}

/// Returns the value of `synchronous_standby_names`: how many standbys commits wait for, and the names of all standbys.
fn standbys(replication: &Replication) -> String {
    let names: Vec<String> = (1..=replication.replicas).map(standby).collect();
    let waits_for = replication.mode.waits_for(replication.replicas);
    format!("ANY {waits_for} ({})", names.join(", "))
}

fn standby(number: u32) -> String {
    format!("replica{number}")
}

/// Runs a statement on a replica, and sends it again if the replica cancels it. PostgreSQL's manual describes this under
/// *Handling Query Conflicts*.
fn query(client: &mut Client, sql: &str) -> Result<ResultSet, ClientError> {
    let mut sent = 1;
    loop {
        match client.query(sql) {
            Err(ClientError::Server(error)) if error.state == CANCELLED && sent < SENT_MAX => sent += 1,
            other => return other,
        }
    }
}

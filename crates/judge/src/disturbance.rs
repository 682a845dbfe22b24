//! Disturbance: CPU time that others used on the host.

use dyno_store::{TrialRecord, Usage};
use serde::Serialize;

/// Limits on the CPU time of others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DisturbanceLimits {
    /// Largest share that the hypervisor may give to other guests.
    pub steal_max: f64,
    /// Largest share that processes other than server and load generator may use. They include kernel threads, some of
    /// which write for the server.
    pub others_max: f64,
}

impl Default for DisturbanceLimits {
    fn default() -> Self {
        Self { steal_max: 0.01, others_max: 0.05 }
    }
}

/// CPU time of others on the host during a trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Disturbance {
    /// Share of all CPU time that the hypervisor gave to other guests.
    pub steal_share: f64,
    /// Share of all CPU time that processes other than server and load generator used.
    pub others_share: f64,
    /// Whether one of them is above its limit. The trial should then be repeated.
    pub is_disturbed: bool,
}

/// Computes the disturbance of a trial; none if it was not measured. A load of other hosts used no CPU of this one.
pub fn disturbance(trial: &TrialRecord, limits: &DisturbanceLimits) -> Option<Disturbance> {
    let client = if trial.drivers.is_empty() {
        trial.usage.client_user_cpu_us.unwrap_or(0) + trial.usage.client_system_cpu_us.unwrap_or(0)
    } else {
        0
    };
    of_usage(&trial.usage, client, limits)
}

/// `client_us`: CPU time of the load on this host, if the server's account does not contain it.
fn of_usage(usage: &Usage, client_us: u64, limits: &DisturbanceLimits) -> Option<Disturbance> {
    let busy = usage.host_user_cpu_us? + usage.host_system_cpu_us?;
    let steal = usage.host_steal_cpu_us?;
    let total = busy + steal + usage.host_idle_cpu_us? + usage.host_iowait_cpu_us?;
    if total == 0 {
        return None;
    }
    let server = usage.server_user_cpu_us? + usage.server_system_cpu_us?;
    let share = |part: u64| part as f64 / total as f64;
    let (steal_share, others_share) = (share(steal), share(busy.saturating_sub(server + client_us)));
    let is_disturbed = steal_share > limits.steal_max || others_share > limits.others_max;
    Some(Disturbance { steal_share, others_share, is_disturbed })
}

#[cfg(test)]
mod tests {
    use dyno_store::DriverRecord;

    use super::*;

    fn found(usage: &Usage) -> Option<Disturbance> {
        disturbance(&TrialRecord { usage: *usage, ..TrialRecord::default() }, &DisturbanceLimits::default())
    }

    /// Ten seconds of two CPUs. The server used six seconds, its client two, and others the given time.
    fn usage(others_us: u64, steal_us: u64) -> Usage {
        Usage {
            server_user_cpu_us: Some(4_000_000),
            server_system_cpu_us: Some(2_000_000),
            client_user_cpu_us: Some(1_500_000),
            client_system_cpu_us: Some(500_000),
            host_user_cpu_us: Some(5_500_000 + others_us),
            host_system_cpu_us: Some(2_500_000),
            host_iowait_cpu_us: Some(1_000_000),
            host_steal_cpu_us: Some(steal_us),
            host_idle_cpu_us: Some(11_000_000 - others_us - steal_us),
            ..Usage::default()
        }
    }

    #[test]
    fn what_server_and_client_did_not_use_others_did() {
        let found = super::tests::found(&usage(500_000, 100_000)).unwrap();
        assert!((found.others_share - 0.025).abs() < 1e-12);
        assert!((found.steal_share - 0.005).abs() < 1e-12);
        assert!(!found.is_disturbed);
    }

    #[test]
    fn either_limit_is_enough() {
        let is_disturbed = |others, steal| found(&usage(others, steal)).unwrap().is_disturbed;
        assert!(is_disturbed(1_100_000, 0) && is_disturbed(0, 300_000));
    }

    #[test]
    fn clocks_that_disagree_a_little_are_no_one_s_use() {
        let mut usage = usage(0, 0);
        usage.server_user_cpu_us = Some(4_000_500);
        assert_eq!(found(&usage).unwrap().others_share.to_bits(), 0);
    }

    #[test]
    fn without_the_server_s_account_nobody_knows() {
        let unknown = Usage { server_user_cpu_us: None, ..usage(0, 0) };
        assert_eq!(found(&unknown), None);
        assert_eq!(found(&Usage::default()), None);
    }

    #[test]
    fn a_load_of_other_hosts_used_nothing_here() {
        let drivers = vec![DriverRecord::default()];
        let trial = TrialRecord { usage: usage(0, 0), drivers, ..TrialRecord::default() };
        // The client's two seconds of twenty were somebody else's then.
        let found = disturbance(&trial, &DisturbanceLimits::default()).unwrap();
        assert!((found.others_share - 0.1).abs() < 1e-12, "{found:?}");
    }
}

//! The load of a step: one process on this host, or one process on each of the step's drivers (other hosts).

use std::net::IpAddr;
use std::process::{Command, Stdio};

use dyno_load::{Address, FrameSource, Job, LoadGroup, LoadProcess, MemberFigures, Script, Target, Total};
use dyno_store::{DriverLatency, DriverRecord, NetworkRecord, Operation, TrialRecord};

use super::planned::PlannedTrial;
use super::watch::{TrialAbort, Watch};
use crate::job;
use crate::run::record::counts;
use crate::run::system::{RunningSystem, SystemSlot};

/// Of the times that statements took, the median is recorded. This is the quantile of the median.
const MEDIAN: f64 = 0.5;

/// The load of a step.
pub(crate) enum StepLoad {
    Here(LoadProcess),
    OnDrivers(Box<LoadGroup>),
}

impl StepLoad {
    pub(crate) fn frames(&mut self) -> &mut dyn FrameSource {
        match self {
            Self::Here(process) => process,
            Self::OnDrivers(group) => group.as_mut(),
        }
    }

    /// Returns the measurements of each driver, except those of the network. Empty for a load on this host.
    pub(crate) fn drivers(&self, operation: Operation) -> Vec<DriverRecord> {
        match self {
            Self::Here(_) => Vec::new(),
            Self::OnDrivers(group) => {
                group.figures().iter().map(|figures| driver(figures, operation)).collect()
            }
        }
    }
}

impl PlannedTrial<'_> {
    /// Starts the step's load.
    pub(crate) fn start_step_load(
        &self,
        job: &Job,
        system: &dyn RunningSystem,
    ) -> Result<StepLoad, TrialAbort> {
        let drivers = &self.step().drivers;
        if drivers.is_empty() {
            return self.start_load(job).map(StepLoad::Here);
        }
        // The script has no search path, so that all drivers use the same modules, and not modules from their own
        // disks.
        let script = Script { search_path: Vec::new(), ..job.script.clone() };
        let job = Job { target: network_target(job.target.clone(), system)?, script, ..job.clone() };
        let command = |host: &String| Ok((host.clone(), self.driver_command(host)?));
        let commands = drivers.iter().map(command).collect::<Result<_, TrialAbort>>()?;
        LoadGroup::start(commands, &job)
            .map(|group| StepLoad::OnDrivers(Box::new(group)))
            .map_err(TrialAbort::failed)
    }

    /// Measures the network from each of the step's drivers to a system, unless that network was measured before. A
    /// failed measurement does not fail the trial here, because the load will report the reason.
    pub(crate) fn measure_networks(&self, slot: &mut SystemSlot<'_>) -> Result<(), TrialAbort> {
        for host in &self.step().drivers {
            if slot.networks.contains_key(host) {
                continue;
            }
            let Ok(system) = slot.system() else { return Ok(()) };
            let network = match self.network(host, system) {
                Err(TrialAbort::Stopped) => return Err(TrialAbort::Stopped),
                measured => measured.ok(),
            };
            slot.networks.insert(host.clone(), network);
        }
        Ok(())
    }

    fn network(&self, host: &str, system: &dyn RunningSystem) -> Result<NetworkRecord, TrialAbort> {
        let job = job::network(network_target(system.target(), system)?);
        let mut command = self.driver_command(host)?;
        command.stderr(Stdio::null());
        let mut load = LoadProcess::start(command, &job)?;
        let total = Watch { stop: self.options.stop, patience: self.options.patience }.follow(
            &mut load,
            |_| (),
            || Ok(()),
        )?;
        network_of(&total)
            .ok_or_else(|| TrialAbort::failed("no statement of the measurement of the network ended"))
    }

    fn driver_command(&self, host: &str) -> Result<Command, TrialAbort> {
        let command = self.options.drivers.command(host);
        command.map_err(|reason| TrialAbort::failed(format!("driver {host}: {reason}")))
    }
}

fn network_target(target: Target, system: &dyn RunningSystem) -> Result<Target, TrialAbort> {
    let cannot = |reason: &str| Err(TrialAbort::failed(format!("drivers cannot reach it: {reason}")));
    let Some(address) = system.network_address() else {
        return cannot("its `dsn` is a socket; name its host and port");
    };
    if let Address::Tcp { host, .. } = &address
        && is_loopback(host)
    {
        return cannot(&format!("{host} is their own host to them; name another address in its `dsn`"));
    }
    let tls = &target.tls;
    if tls.ca.is_some() || tls.cert.is_some() || tls.key.is_some() {
        return cannot("its `dsn` names files for TLS, which they do not have");
    }
    let mut target = Target { addresses: vec![address], ..target };
    if let Some(key) = system.public_key() {
        target.trust.public_key = Some(key);
    }
    Ok(target)
}

/// Returns whether a name or an address is that of a loopback interface. A loopback address always refers to the host
/// that uses it. So on each driver, the address would refer to a different server.
fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Computes the network's properties from measured statements. The time to send a large answer is the statement's
/// duration minus a round trip. Returns `None` if no statement ended.
fn network_of(total: &Total) -> Option<NetworkRecord> {
    let round_trip_us = total.statements.others.quantile_us(MEDIAN)?;
    let sending_us = total.statements.reads.quantile_us(MEDIAN).map(|whole_us| whole_us - round_trip_us);
    let bytes_per_second = sending_us.filter(|us| *us > 0.0).map(|us| job::NETWORK_BYTES as f64 / us * 1e6);
    Some(NetworkRecord { round_trip_us, bytes_per_second })
}

fn driver(figures: &MemberFigures, operation: Operation) -> DriverRecord {
    let total = &figures.total;
    let at = |quantile| total.latency.quantile_us(quantile);
    let latency = || {
        let max_us = total.latency.exact()?.max_ns as f64 / 1e3;
        Some(DriverLatency { p50_us: at(0.5)?, p95_us: at(0.95)?, p99_us: at(0.99)?, max_us })
    };
    DriverRecord {
        host: figures.name.clone(),
        clients: figures.connections,
        seconds: total.seconds,
        operations: counts(&total.counts, operation).operations,
        events: total.counts.events,
        latency: latency(),
        left_events: total.backlog + u64::from(total.unfinished),
        gap_longest_seconds: total.gaps.map(|gaps| gaps.longest_seconds),
        began_after_seconds: figures.began_after.map(|after| after.as_secs_f64()),
        cpu_us: total.usage.user_us + total.usage.system_us,
        threads: figures.threads,
        memory_peak_bytes: total.usage.memory_bytes_max,
        network: None,
    }
}

/// Returns an error if the drivers did not load the system at the same time. The trial's rate would then not be the
/// rate of all drivers together.
pub(crate) fn were_together(record: &TrialRecord) -> Result<(), TrialAbort> {
    let late = record.drivers.iter().find_map(|driver| Some((driver, dyno_judge::too_late_seconds(driver)?)));
    late.map_or(Ok(()), |(driver, seconds)| {
        Err(TrialAbort::failed(format!(
            "driver {} began {seconds:.1} s after the first, of {:.1} s measured",
            driver.host, driver.seconds
        )))
    })
}

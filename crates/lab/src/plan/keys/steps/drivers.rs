//! The plan keys `drivers` and `listen`: hosts that generate the load, and the address at which they reach
//! the servers.

use std::net::IpAddr;

use serde::Deserialize;

use crate::plan::keys::steps::command::Command;
use crate::plan::keys::systems::source::Source;
use crate::plan::keys::systems::system::System;
use crate::plan::syntax::error::Problem;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::At;

/// The prefix of a host, as in `ssh://USER@HOST:PORT`. ssh accepts hosts in this form, with or without a user and a
/// port.
const PREFIX: &str = "ssh://";

/// Where load comes from.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(in crate::plan) enum DriversKey {
    /// The host of the run, even if the plan names drivers.
    Here,
    /// Hosts, as `ssh://HOST`.
    #[serde(rename = "a list")]
    #[cfg_attr(test, schemars(untagged))]
    Hosts(Vec<At<String>>),
}

/// Reads `drivers`, a list of different hosts. The list is empty if the load comes from this host.
pub(in crate::plan) fn hosts(key: DriversKey) -> Result<Vec<String>, Mistake> {
    let list = match key {
        DriversKey::Here => Vec::new(),
        DriversKey::Hosts(list) => list,
    };
    let mut hosts: Vec<String> = Vec::new();
    for host in list {
        let name = host.strip_prefix(PREFIX).unwrap_or_default();
        let is_name = !name.is_empty() && !name.starts_with('-') && !name.contains(char::is_whitespace);
        if !is_name {
            return Err(host.wrong(format!("`{}` is not a host; write ssh://HOST, as for ssh", *host)));
        }
        if hosts.contains(&host) {
            return Err(host.wrong(format!("`drivers` names {} twice; leave one of them out", *host)));
        }
        hosts.push(host.into_inner());
    }
    Ok(hosts)
}

/// Reads the key `listen`.
pub(in crate::plan) fn address(text: &str) -> Result<IpAddr, Problem> {
    match text.parse::<IpAddr>() {
        Ok(address) if !address.is_unspecified() && !address.is_loopback() => Ok(address),
        _ => Err(Problem::Other(format!(
            "`listen` is an address of this host that drivers reach, such as 10.0.0.1, not `{text}`"
        ))),
    }
}

/// The properties of a step that decide whether its load can come from drivers, which are other hosts.
pub(in crate::plan) struct Load<'a> {
    pub(in crate::plan) command: Command,
    pub(in crate::plan) has_find: bool,
    /// Whether the warm-up lasts until the rate is level.
    pub(in crate::plan) waits_for_level: bool,
    pub(in crate::plan) clients: &'a [u32],
    /// Number of events after which a trial ends. `None` if a trial does not end after a number of events.
    pub(in crate::plan) events: Option<u32>,
    pub(in crate::plan) systems: &'a [System],
    /// Ids of the systems that do not run the step.
    pub(in crate::plan) not_for: &'a [String],
}

/// Returns a step's drivers: the step's own, or else those of the plan. The plan's drivers do not apply to loads.
pub(in crate::plan) fn of_step(
    own: Option<At<DriversKey>>,
    plan: &[String],
    load: &Load<'_>,
) -> Result<Vec<String>, Mistake> {
    let Some(own) = own else {
        let drivers = if load.command == Command::Prepare { &[] } else { plan };
        return load.check(drivers).map(|()| drivers.to_vec()).map_err(Mistake::from);
    };
    let span = own.span();
    let drivers = hosts(own.into_inner())?;
    load.check(&drivers).map_err(|problem| Mistake::from(problem).or_at(span))?;
    Ok(drivers)
}

impl Load<'_> {
    /// Returns an error if the step's load cannot come from these hosts.
    fn check(&self, drivers: &[String]) -> Result<(), Problem> {
        let problem = |text: &str| Err(Problem::Other(text.to_owned()));
        if drivers.is_empty() {
            return Ok(());
        }
        if self.command == Command::Prepare {
            return problem("tables are loaded from this host; leave `drivers` out");
        }
        if self.has_find {
            return problem(
                "a search orders its probes one by one, from this host; give the step `drivers = \"here\"`",
            );
        }
        if self.waits_for_level {
            return problem(
                "drivers begin to measure together, and each would find a level at another time; \
                 write `warmup_seconds_max = 0` and a `warmup_seconds` that is enough",
            );
        }
        let number = drivers.len();
        let too_few = |count: u32, what: &str| {
            let counted = if count == 1 { what.to_owned() } else { format!("{what}s") };
            Problem::Other(format!(
                "{count} {counted} cannot be divided among {number} drivers; each needs at least one"
            ))
        };
        if let Some(clients) = self.clients.iter().find(|clients| (**clients as usize) < number) {
            return Err(too_few(*clients, "client"));
        }
        if let Some(events) = self.events.filter(|events| (*events as usize) < number) {
            return Err(too_few(events, "event"));
        }
        self.systems.iter().filter(|system| !self.not_for.contains(&system.id)).try_for_each(reachable)
    }
}

/// Returns an error if drivers cannot reach a system.
fn reachable(system: &System) -> Result<(), Problem> {
    let System { id, source, listen, .. } = system;
    let reason = match source {
        Source::Dsn { .. } => return Ok(()),
        Source::Image { .. } => {
            "its container takes connections of this host only; name a folder with the same build, or a version of the catalogue"
        }
        _ if !source.starts_server() => "it runs in the load process",
        _ if listen.is_none() => "name the address of this host that they reach: `listen = \"ADDRESS\"`",
        _ => return Ok(()),
    };
    Err(Problem::Other(format!("drivers cannot reach system `{id}`: {reason}")))
}

#[cfg(test)]
mod tests {
    use crate::plan::testing::{TEXT, parse};

    /// Returns the text of the small plan with the additional `keys`. The text is changed so that all systems are
    /// servers and each step has at least two clients.
    fn with(keys: &str) -> String {
        let servers = TEXT
            .replace("engine = \"sqlite\"\nsettings = { journal_mode = \"WAL\" }", "engine = \"postgres\"")
            .replace("clients = [1, 4]", "clients = [2, 4]");
        let text = servers.replacen("base =", &format!("{keys}\nbase ="), 1);
        assert!(text != servers && !servers.contains("WAL") && servers.contains("[2, 4]"));
        text
    }

    fn refusal(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    const LISTEN: &str = "listen = \"10.0.0.1\"\n";

    #[test]
    fn steps_have_the_plan_s_drivers_and_loads_none() {
        let plan = parse(&with(&format!("{LISTEN}drivers = [\"ssh://a\", \"ssh://me@b:22\"]"))).unwrap();
        assert_eq!(plan.steps[0].drivers, [""; 0]);
        assert_eq!(plan.steps[1].drivers, ["ssh://a", "ssh://me@b:22"]);
        assert_eq!(plan.steps[1].measure, crate::plan::Measure::Whole);
        assert!(plan.systems.iter().all(|system| system.listen.is_some()));
        let own =
            parse(&format!("{}drivers = \"here\"\n", with(&format!("{LISTEN}drivers = [\"ssh://a\"]"))))
                .unwrap();
        assert_eq!(own.steps[1].drivers, [""; 0]);
    }

    #[test]
    fn what_drivers_cannot_do_is_told() {
        let step = |keys: &str| format!("{}{keys}\n", with(LISTEN));
        for (text, told) in [
            (step("drivers = [\"a\"]"), "`a` is not a host; write ssh://HOST"),
            (step("drivers = [\"ssh://-o\"]"), "is not a host"),
            (step("drivers = [\"ssh://a\", \"ssh://a\"]"), "names ssh://a twice"),
            (
                step("drivers = [\"ssh://a\", \"ssh://b\"]\nclients = [1]"),
                "1 client cannot be divided among 2 drivers",
            ),
            (
                step("drivers = [\"ssh://a\", \"ssh://b\"]\nevents = 1"),
                "1 event cannot be divided among 2 drivers",
            ),
            (step("drivers = [\"ssh://a\"]\nwarmup_seconds_max = 9"), "write `warmup_seconds_max = 0`"),
            (step("drivers = [\"ssh://a\"]\nslice_seconds = 0.1"), "its drivers run all the time"),
            (format!("{}drivers = [\"ssh://a\"]\n", with("")), "`listen = \"ADDRESS\"`"),
            (format!("{LISTEN}{TEXT}drivers = [\"ssh://a\"]\n"), "system `c`: it runs in the load process"),
            (with("listen = \"0.0.0.0\""), "not `0.0.0.0`"),
            (with("listen = \"127.0.0.1\""), "not `127.0.0.1`"),
            (
                with(LISTEN).replace("operation = \"row\"", "operation = \"row\"\ndrivers = [\"ssh://a\"]"),
                "tables are loaded from this host",
            ),
        ] {
            let error = refusal(&text);
            assert!(error.contains(told), "{told}: {error}");
        }
    }
}

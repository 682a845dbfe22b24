//! Checks a job against its script's declarations, before connecting.

use dyno_script::{ScriptInfo, ValueKind};

use crate::protocol::job::{Job, Join, Protocol, Target};

/// Largest edit distance between an unknown name and the known name that is suggested in its place.
const NEAR: usize = 3;

/// Why a job does not fit its script.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum JobError {
    #[error("{script} has no option '{option}'{hint}; it has {known}")]
    UnknownOption { script: String, option: String, hint: String, known: String },
    #[error("{script} has no command '{command}'{hint}; it has {known}")]
    UnknownCommand { script: String, command: String, hint: String, known: String },
    #[error("{script} cannot be run: it defines no function 'event'")]
    NotRunnable { script: String },
    #[error("errors to ignore are {expected}, not '{given}'")]
    IgnoredErrors { expected: String, given: String },
    #[error("a job needs at least one connection")]
    NoConnections,
    #[error(
        "a job in slices runs events, as fast as they come: leave out its rate, warm-up, seconds and command"
    )]
    NotSliceable,
    #[error(
        "a job whose connections join runs events, as fast as they come: leave out its rate, warm-up, slices and command"
    )]
    NotJoinable,
    #[error(
        "joins must be in order of time, each with more connections than the one before, up to all {connections}"
    )]
    Joins { connections: u32 },
}

/// Checks a job against its script. Returns an error for unknown options and commands, and for parts that
/// contradict each other.
pub(crate) fn job(job: &Job, info: &ScriptInfo) -> Result<(), JobError> {
    let script = job.script.name.clone();
    if job.connections == 0 {
        return Err(JobError::NoConnections);
    }
    let is_timed = job.rate.is_some() || job.warms_up() || job.seconds.is_some();
    if job.sliced && (is_timed || job.command != "run") {
        return Err(JobError::NotSliceable);
    }
    joins(job)?;
    ignored_errors(&job.target)?;
    let options: Vec<&str> = info.options.iter().map(|option| option.name.as_str()).collect();
    for option in job.options.keys().filter(|_| !info.any_options) {
        let name = option.replace('-', "_");
        if !options.contains(&name.as_str()) {
            let (hint, known) = (near_miss(&name, &options), list(&options));
            return Err(JobError::UnknownOption { script, option: option.clone(), hint, known });
        }
    }
    if job.command == "run" {
        return if info.is_runnable() { Ok(()) } else { Err(JobError::NotRunnable { script }) };
    }
    let commands: Vec<&str> = info.commands.iter().map(|command| command.name.as_str()).collect();
    if !commands.contains(&job.command.as_str()) {
        let (hint, known) = (near_miss(&job.command, &commands), list(&commands));
        return Err(JobError::UnknownCommand { script, command: job.command.clone(), hint, known });
    }
    Ok(())
}

/// Returns an error if the list of errors to ignore contains a code in a form that no server uses.
fn ignored_errors(target: &Target) -> Result<(), JobError> {
    let given = target.ignore_errors.as_deref().unwrap_or_default().join(",");
    let kind = if target.driver == Protocol::Pgsql { ValueKind::SqlStates } else { ValueKind::MysqlErrors };
    kind.mismatch(&given).map_or(Ok(()), |expected| Err(JobError::IgnoredErrors { expected, given }))
}

/// Returns an error if the times at which connections join are out of order, or if the kind of job does not allow
/// connections to join later.
fn joins(job: &Job) -> Result<(), JobError> {
    let Some(last) = job.joins.last() else { return Ok(()) };
    if job.sliced || job.rate.is_some() || job.warmup_seconds > 0.0 || job.command != "run" {
        return Err(JobError::NotJoinable);
    }
    let follows =
        |pair: &[Join]| pair[0].at_seconds <= pair[1].at_seconds && pair[0].connections < pair[1].connections;
    let is_ascending = job.joins.windows(2).all(follows);
    let are_times = job.joins.iter().all(|join| join.at_seconds >= 0.0);
    if is_ascending && are_times && last.connections == job.connections {
        return Ok(());
    }
    Err(JobError::Joins { connections: job.connections })
}

fn near_miss(name: &str, known: &[&str]) -> String {
    let nearest =
        known.iter().map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate)).min();
    match nearest {
        Some((distance, candidate)) if distance <= NEAR => format!(" (did you mean '{candidate}'?)"),
        _ => String::new(),
    }
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::job::Script;
    use crate::schedule::arrivals::Rate;

    fn with_joins(connections: u32, points: &[(f64, u32)]) -> Job {
        let target = Target::new(Protocol::Mysql, Vec::new());
        let script = Script { name: "x".to_owned(), source: String::new(), search_path: Vec::new() };
        let join = |&(at_seconds, connections): &(f64, u32)| Join { at_seconds, connections };
        Job { connections, joins: points.iter().map(join).collect(), ..Job::new(target, script, "run") }
    }

    #[test]
    fn connections_join_in_order_of_time_until_all_have() {
        let job = with_joins(6, &[(1.0, 2), (2.5, 6)]);
        assert_eq!(joins(&job), Ok(()));
        let times = [0, 1, 2, 5, 6].map(|tid| job.joins_at_ns(tid));
        assert_eq!(
            times,
            [Some(1_000_000_000), Some(1_000_000_000), Some(2_500_000_000), Some(2_500_000_000), None]
        );
        let unordered: [&[(f64, u32)]; 4] =
            [&[(1.0, 2), (0.5, 6)], &[(1.0, 6), (2.0, 6)], &[(1.0, 2)], &[(-1.0, 6)]];
        for points in unordered {
            assert_eq!(joins(&with_joins(6, points)), Err(JobError::Joins { connections: 6 }), "{points:?}");
        }
    }

    #[test]
    fn errors_to_ignore_are_numbers_or_states() {
        let with = |driver, errors: &[&str]| {
            let errors = errors.iter().map(|error| (*error).to_owned()).collect();
            ignored_errors(&Target { ignore_errors: Some(errors), ..Target::new(driver, Vec::new()) })
        };
        assert_eq!(with(Protocol::Mysql, &["1213", "HY000", "all"]), Ok(()));
        assert!(with(Protocol::Mysql, &["1213", "abc"]).is_err());
        assert_eq!(with(Protocol::Pgsql, &["40P01"]), Ok(()));
        assert!(with(Protocol::Pgsql, &["1213"]).is_err());
    }

    #[test]
    fn only_a_closed_loop_without_warm_up_can_be_joined() {
        let job = with_joins(2, &[(1.0, 2)]);
        let others = [
            Job { sliced: true, ..job.clone() },
            Job { rate: Some(Rate::steady(1.0)), ..job.clone() },
            Job { warmup_seconds: 1.0, ..job.clone() },
            Job { command: "prepare".to_owned(), ..job },
        ];
        for other in others {
            assert_eq!(joins(&other), Err(JobError::NotJoinable));
        }
    }
}

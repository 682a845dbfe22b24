//! Reads runs.

use std::collections::{HashMap, HashSet};

use rusqlite::types::Type;
use rusqlite::{OptionalExtension, Row, params};

use crate::error::StoreError;
use crate::file::open::Store;
use crate::file::owner;
use crate::record::capacity::CapacityRecord;
use crate::record::columns::{CountsRecord, Memory, Neighbours, Usage};
use crate::record::latency::{LatencyNs, LatencyRecord};
use crate::record::search::StoredSearch;
use crate::record::{
    CLIENT_COUNTS_MAX, ClaimRecord, Correction, FailureKind, GapsRecord, InstanceRecord, LadderRecord,
    Measured, NAME_BYTES_MAX, Operation, Origin, Outcome, Phase, ResumptionRecord, RunRecord, SampleRecord,
    SliceRecord, StepRecord, SystemRecord, TrialRecord,
};
use crate::run::{Ending, Run, RunChoice, RunId, RunState, RunSummary, Trial, TrialId};

impl Store {
    /// The text of the plan of a run.
    ///
    /// # Errors
    /// There is no such run, or the file cannot be read.
    pub fn plan_text(&self, run: RunId) -> Result<String, StoreError> {
        self.connection()
            .query_row("SELECT plan_text FROM run WHERE id = ?1", [run.0], |row| row.get(0))
            .map_err(|error| self.error(error))
    }

    /// The comparison that the run makes for a search; `None` for a run of a plan.
    ///
    /// # Errors
    /// There is no such run, or the file cannot be read.
    pub fn search(&self, run: RunId) -> Result<Option<StoredSearch>, StoreError> {
        let read = |row: &Row<'_>| {
            let record = optional_json(row, "search")?;
            let (plan_text, scale) = (row.get("plan_text")?, row.get("scale")?);
            Ok(record.map(|record| StoredSearch { plan_text, scale, record }))
        };
        self.connection()
            .query_row("SELECT plan_text, scale, search FROM run WHERE id = ?1", [run.0], read)
            .map_err(|error| self.error(error))
    }

    /// Every run in the file, oldest first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn runs(&self) -> Result<Vec<RunSummary>, StoreError> {
        self.rows(
            "SELECT id, plan_name, plan_title, started_at_ms, finished_at_ms, status, owner,
                    search IS NOT NULL AS is_of_search,
                    (SELECT count(*) FROM trial WHERE run_id = run.id AND outcome = 'completed'
                                              AND NOT is_superseded) AS completed,
                    (SELECT count(*) FROM trial WHERE run_id = run.id AND outcome = 'failed'
                                              AND NOT is_superseded) AS failed
             FROM run ORDER BY id",
            [],
            |row| {
                Ok(RunSummary {
                    id: RunId(row.get("id")?),
                    plan_name: row.get("plan_name")?,
                    plan_title: row.get("plan_title")?,
                    started_at_ms: row.get("started_at_ms")?,
                    finished_at_ms: row.get("finished_at_ms")?,
                    state: run_state(row)?,
                    completed_trials: row.get("completed")?,
                    failed_trials: row.get("failed")?,
                    is_of_search: row.get("is_of_search")?,
                })
            },
        )
    }

    /// The state of each run, oldest first. Unlike [`Store::runs`] it counts no trials.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn run_states(&self) -> Result<Vec<(RunId, RunState)>, StoreError> {
        self.rows("SELECT id, status, owner FROM run ORDER BY id", [], |row| {
            Ok((RunId(row.get("id")?), run_state(row)?))
        })
    }

    /// A run with its systems, steps and trials, from one snapshot even if the run is in progress.
    ///
    /// # Errors
    /// The file cannot be read, or has no such run.
    pub fn load_run(&self, choice: RunChoice) -> Result<Run, StoreError> {
        // One read transaction, so that a concurrently committed trial is included completely or not at all.
        let _snapshot = self.snapshot()?;
        let id = self.choose(choice)?;
        let mut found = self.rows("SELECT * FROM run WHERE id = ?1", [id.0], |row| {
            Ok(Run {
                finished_at_ms: row.get("finished_at_ms")?,
                allocation: optional_json(row, "allocation")?,
                left_tests: json(row, "left_tests")?,
                audit: optional_json(row, "audit")?,
                ..Run::new(id, run_record(row)?, run_state(row)?)
            })
        })?;
        let Some(mut run) = found.pop() else { return Err(self.no_such_run(id)?) };
        run.systems = self.systems(id)?;
        run.steps =
            self.rows("SELECT * FROM step WHERE run_id = ?1 ORDER BY position", [id.0], step_record)?;
        run.record.claims =
            self.rows("SELECT * FROM claim WHERE run_id = ?1 ORDER BY position", [id.0], claim_record)?;
        run.resumptions = self.rows(
            "SELECT * FROM resumption WHERE run_id = ?1 ORDER BY resumed_at_ms",
            [id.0],
            resumption_record,
        )?;
        run.attempts = self.attempts(id)?;
        run.instances = self.rows(
            "SELECT instance.* FROM instance JOIN system ON system.run_id = instance.run_id AND system.id = system_id
             WHERE instance.run_id = ?1 ORDER BY round, position",
            [id.0],
            instance_record,
        )?;
        run.crash_tests = self.crash_tests(id)?;
        let mut slices: HashMap<i64, Vec<SliceRecord>> = HashMap::new();
        self.for_each_row(
            "SELECT trial_id, cycle, started_us, slice.seconds, slice.operations
             FROM trial JOIN slice ON slice.trial_id = trial.id WHERE run_id = ?1 ORDER BY trial_id, cycle",
            [id.0],
            |row| {
                let slice = SliceRecord {
                    cycle: row.get(1)?,
                    started_us: row.get(2)?,
                    seconds: row.get(3)?,
                    operations: row.get(4)?,
                };
                slices.entry(row.get(0)?).or_default().push(slice);
                Ok(())
            },
        )?;
        let mut profiles = self.stack_profiles(id)?;
        let (mut plans, mut answers) = (self.query_plans(id)?, self.query_answers(id)?);
        let mut digests = self.replayed_digests(id)?;
        let mut counters = self.chosen_counters(id, &run.record.counters)?;
        let (mut step_events, mut timelines) = (self.step_events(id)?, self.timelines(id)?);
        let mut replicas = self.replicas(id)?;
        let mut trials = |is_superseded: bool| {
            self.rows(
                "SELECT * FROM trial WHERE run_id = ?1 AND is_superseded = ?2 ORDER BY position, id",
                params![id.0, is_superseded],
                |row| {
                    let id = row.get("id")?;
                    let slices = slices.remove(&id).unwrap_or_default();
                    let stacks = profiles.remove(&id);
                    let counters = counters.remove(&TrialId(id)).unwrap_or_default();
                    let (query_plan, query_answer) = (plans.remove(&id), answers.remove(&id));
                    let replayed = digests.remove(&id).unwrap_or_default();
                    let record = TrialRecord {
                        slices,
                        step_events: step_events.remove(&id).unwrap_or_default(),
                        timeline: timelines.remove(&id),
                        replicas: replicas.remove(&id).unwrap_or_default(),
                        stacks,
                        query_plan,
                        query_answer,
                        replayed,
                        counters,
                        ..trial_record(row)?
                    };
                    Ok(Trial { id: TrialId(id), record })
                },
            )
        };
        (run.trials, run.superseded) = (trials(false)?, trials(true)?);
        Ok(run)
    }

    /// The systems of a run with their variables, in the plan's order.
    pub(crate) fn systems(&self, id: RunId) -> Result<Vec<SystemRecord>, StoreError> {
        let mut systems =
            self.rows("SELECT * FROM system WHERE run_id = ?1 ORDER BY position", [id.0], system_record)?;
        for system in &mut systems {
            system.variables = self.rows(
                "SELECT name, value FROM variable WHERE run_id = ?1 AND system_id = ?2 ORDER BY name",
                params![id.0, system.id],
                |row| Ok((row.get("name")?, row.get("value")?)),
            )?;
        }
        Ok(systems)
    }

    /// The samples of a trial with their histograms, in order. [`Self::seconds`] is much faster.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn samples(&self, trial: TrialId) -> Result<Vec<SampleRecord>, StoreError> {
        let sql = "SELECT * FROM sample JOIN sample_latency USING (trial_id, number)
                   WHERE trial_id = ?1 ORDER BY number";
        self.rows(sql, [trial.0], sample_record)
    }

    fn choose(&self, choice: RunChoice) -> Result<RunId, StoreError> {
        match choice {
            RunChoice::Id(id) => Ok(id),
            RunChoice::Latest => self
                .connection()
                .query_row("SELECT id FROM run ORDER BY id DESC LIMIT 1", [], |row| row.get(0))
                .optional()
                .map_err(|error| self.error(error))?
                .map(RunId)
                .ok_or_else(|| StoreError::Empty { path: self.path().to_owned() }),
        }
    }

    /// The error for a missing run, which lists the existing runs.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn no_such_run(&self, id: RunId) -> Result<StoreError, StoreError> {
        let path = self.path().to_owned();
        let runs = self.runs()?;
        let (Some(first), Some(last)) = (runs.first(), runs.last()) else {
            return Ok(StoreError::Empty { path });
        };
        let known = if first.id == last.id {
            format!("run {}", first.id)
        } else {
            format!("runs {} to {}", first.id, last.id)
        };
        Ok(StoreError::NoSuchRun { path, run: id.0, known })
    }

    /// Calls a function with each row of a query.
    pub(crate) fn for_each_row(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        mut each: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        let read = || {
            let mut statement = self.connection().prepare_cached(sql)?;
            let mut rows = statement.query(params)?;
            while let Some(row) = rows.next()? {
                self.budget.take(row)?;
                each(row)?;
            }
            Ok(())
        };
        read().map_err(|error| self.error(error))
    }

    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        mut map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut rows = Vec::new();
        self.for_each_row(sql, params, |row| {
            rows.push(map(row)?);
            Ok(())
        })?;
        Ok(rows)
    }
}

fn run_record(row: &Row<'_>) -> rusqlite::Result<RunRecord> {
    Ok(RunRecord {
        plan_name: name(row, "plan_name")?,
        plan_title: row.get("plan_title")?,
        plan_text: row.get("plan_text")?,
        dyno_version: row.get("dyno_version")?,
        seed: row.get::<_, i64>("seed")?.cast_unsigned(),
        scale: row.get("scale")?,
        started_at_ms: row.get("started_at_ms")?,
        host: json(row, "host")?,
        command_line: row.get("command_line")?,
        claims: Vec::new(),
        rounds: row.get("rounds")?,
        looks: row.get("looks")?,
        correction: match row.get_ref("correction")?.as_str()? {
            "holm" => Correction::Holm,
            "fdr" => Correction::Fdr,
            "none" => Correction::None,
            _ => Correction::MaxT,
        },
        counts_disturbed: row.get("counts_disturbed")?,
        ladders: ladders(row)?,
        counters: json(row, "counters")?,
        spread_id: row.get("spread_id")?,
        search: optional_json(row, "search")?,
    })
}

/// Reads ladders. Each system is only once in a ladder, and each ladder has its own id. Reports compare each system
/// with the previous one.
fn ladders(row: &Row<'_>) -> rusqlite::Result<Vec<LadderRecord>> {
    let ladders: Vec<LadderRecord> = json(row, "ladders")?;
    let mut ids = HashSet::new();
    for ladder in &ladders {
        let mut systems = HashSet::new();
        if !ids.insert(&ladder.id) || !ladder.systems.iter().all(|id| systems.insert(id)) {
            return Err(unfit(row, "ladders", "a ladder or one of its systems is there twice"));
        }
    }
    Ok(ladders)
}

fn instance_record(row: &Row<'_>) -> rusqlite::Result<InstanceRecord> {
    Ok(InstanceRecord {
        system_id: row.get("system_id")?,
        round: row.get("round")?,
        started_at_ms: row.get("started_at_ms")?,
        is_fresh: row.get("is_fresh")?,
        start_seconds: row.get("start_seconds")?,
        warm_seconds: row.get("warm_seconds")?,
        settle_seconds: row.get("settle_seconds")?,
    })
}

fn claim_record(row: &Row<'_>) -> rusqlite::Result<ClaimRecord> {
    Ok(ClaimRecord {
        id: row.get("id")?,
        expression: row.get("expression")?,
        says: row.get("says")?,
        published: row.get("published")?,
        source: row.get("source")?,
    })
}

fn resumption_record(row: &Row<'_>) -> rusqlite::Result<ResumptionRecord> {
    Ok(ResumptionRecord {
        resumed_at_ms: row.get("resumed_at_ms")?,
        host: json(row, "host")?,
        differences: json(row, "differences")?,
    })
}

fn run_state(row: &Row<'_>) -> rusqlite::Result<RunState> {
    Ok(match row.get::<_, String>("status")?.as_str() {
        "finished" => RunState::Ended(Ending::Finished),
        "interrupted" => RunState::Ended(Ending::Interrupted),
        "failed" => RunState::Ended(Ending::Failed),
        _ if owner::is_alive(&row.get::<_, String>("owner")?) => RunState::Running,
        _ => RunState::Killed,
    })
}

fn system_record(row: &Row<'_>) -> rusqlite::Result<SystemRecord> {
    Ok(SystemRecord {
        id: name(row, "id")?,
        name: row.get("name")?,
        engine_version: row.get("engine_version")?,
        position: row.get("position")?,
        is_base: row.get("is_base")?,
        is_anchor: row.get("is_anchor")?,
        requested_settings: json(row, "requested_settings")?,
        variables: Vec::new(),
        origin: match row.get::<_, String>("origin")?.as_str() {
            "basedir" => Origin::Basedir,
            "image" => Origin::Image,
            "dsn" => Origin::Dsn,
            _ => Origin::Catalogue,
        },
        control_of: row.get("control_of")?,
        profile: row.get("profile")?,
        confinement: optional_json(row, "confinement")?,
        dollars_per_hour: row.get("dollars_per_hour")?,
        price: optional_json(row, "price")?,
        encryption: row.get("encryption")?,
        image: row.get("image")?,
        configuration: optional_json(row, "configuration")?,
    })
}

fn step_record(row: &Row<'_>) -> rusqlite::Result<StepRecord> {
    Ok(StepRecord {
        id: name(row, "id")?,
        group: name(row, "group_name")?,
        position: row.get("position")?,
        workload: row.get("workload")?,
        command: row.get("command")?,
        operation: match row.get::<_, String>("operation")?.as_str() {
            "query" => Operation::Query,
            "row" => Operation::Row,
            _ => Operation::Transaction,
        },
        clients: client_counts(row)?,
        rounds: row.get("rounds")?,
        seconds: row.get("seconds")?,
        warmup_seconds: row.get("warmup_seconds")?,
        options: json(row, "options")?,
        rate: row.get("rate")?,
        find: optional_json(row, "find")?,
        background_of: row.get("background_of")?,
        repeats: row.get("repeats")?,
        joins: json(row, "joins")?,
        not_for: json(row, "not_for")?,
    })
}

fn name(row: &Row<'_>, column: &str) -> rusqlite::Result<String> {
    let name: String = row.get(column)?;
    if name.len() > NAME_BYTES_MAX {
        let problem = format!("a name has {} bytes, more than {NAME_BYTES_MAX}", name.len());
        return Err(unfit(row, column, problem));
    }
    Ok(name)
}

fn client_counts(row: &Row<'_>) -> rusqlite::Result<Vec<u32>> {
    let counts: Vec<u32> = json(row, "clients")?;
    if counts.len() > CLIENT_COUNTS_MAX {
        let problem = format!("a step has {} client counts, more than {CLIENT_COUNTS_MAX}", counts.len());
        return Err(unfit(row, "clients", problem));
    }
    Ok(counts)
}

fn trial_record(row: &Row<'_>) -> rusqlite::Result<TrialRecord> {
    let outcome = match row.get::<_, Option<String>>("message")? {
        None => Outcome::Completed,
        Some(message) => {
            let kind = match row.get_ref("failure")?.as_str_or_null()? {
                Some("start") => FailureKind::Start,
                _ => FailureKind::Trial,
            };
            let log_tail = row.get::<_, Option<_>>("log_tail")?.unwrap_or_default();
            Outcome::Failed { kind, message, log_tail }
        }
    };
    let was_measured = row.get::<_, Option<f64>>("seconds")?.is_some();
    Ok(TrialRecord {
        system_id: row.get("system_id")?,
        step_id: row.get("step_id")?,
        clients: row.get("clients")?,
        round: row.get("round")?,
        position: row.get("position")?,
        started_at_ms: row.get("started_at_ms")?,
        outcome,
        measured: was_measured.then(|| measured(row)).transpose()?,
        usage: Usage::from_row(row)?,
        memory: Memory::from_row(row)?,
        neighbours: Neighbours::from_row(row)?,
        rest_cpu_us: row.get("rest_cpu_us")?,
        thaw_us: row.get("thaw_us")?,
        lead_seconds: row.get("lead_seconds")?,
        slices: Vec::new(),
        warmup_seconds: row.get("warmup_seconds")?,
        disk_bytes_after: row.get("disk_bytes_after")?,
        backlog: row.get("backlog")?,
        unfinished: row.get("unfinished")?,
        latency_censored: row.get("latency_censored")?,
        gaps: gaps(row)?,
        capacity: capacity(row)?,
        probes: optional_json(row, "probes")?.unwrap_or_default(),
        drivers: optional_json(row, "drivers")?.unwrap_or_default(),
        error_codes: json(row, "error_codes")?,
        step_events: Vec::new(),
        timeline: None,
        replicas: Vec::new(),
        loaded_again: json(row, "loaded_again")?,
        limits: optional_json(row, "limits")?,
        drain: optional_json(row, "drain")?,
        replay: optional_json(row, "replay")?,
        replayed: Vec::new(),
        stacks: None,
        query_plan: None,
        query_answer: None,
        statement_plans: Vec::new(),
        counters: Vec::new(),
        samples: Vec::new(),
    })
}

fn capacity(row: &Row<'_>) -> rusqlite::Result<Option<CapacityRecord>> {
    let Some(per_second) = row.get("capacity_per_second")? else { return Ok(None) };
    Ok(Some(CapacityRecord {
        per_second,
        low_per_second: row.get("capacity_low_per_second")?,
        high_per_second: row.get("capacity_high_per_second")?,
    }))
}

fn gaps(row: &Row<'_>) -> rusqlite::Result<Option<GapsRecord>> {
    let Some(longest_seconds) = row.get("gap_longest_seconds")? else { return Ok(None) };
    Ok(Some(GapsRecord {
        longest_seconds,
        longest_began_seconds: row.get("gap_longest_began_seconds")?,
        last_seconds: row.get("gap_last_seconds")?,
    }))
}

fn sample_record(row: &Row<'_>) -> rusqlite::Result<SampleRecord> {
    Ok(SampleRecord {
        number: row.get("number")?,
        phase: if row.get::<_, String>("phase")? == "warmup" { Phase::Warmup } else { Phase::Measure },
        measured: measured(row)?,
        usage: Usage::from_row(row)?,
    })
}

fn measured(row: &Row<'_>) -> rusqlite::Result<Measured> {
    Ok(Measured {
        seconds: row.get("seconds")?,
        counts: CountsRecord::from_row(row)?,
        due: row.get("due")?,
        latency: latency_of(row)?,
    })
}

/// The latencies of a row that has both their histogram and their figures.
pub(crate) fn latency_of(row: &Row<'_>) -> rusqlite::Result<LatencyRecord> {
    Ok(LatencyRecord { histogram: row.get("latency")?, exact: latency_ns(row)? })
}

fn latency_ns(row: &Row<'_>) -> rusqlite::Result<Option<LatencyNs>> {
    let Some(min_ns) = row.get("latency_min_ns")? else { return Ok(None) };
    Ok(Some(LatencyNs { min_ns, max_ns: row.get("latency_max_ns")?, sum_ns: row.get("latency_sum_ns")? }))
}

pub(crate) fn json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    parse(row, column, &text)
}

pub(crate) fn optional_json<T: serde::de::DeserializeOwned>(
    row: &Row<'_>,
    column: &str,
) -> rusqlite::Result<Option<T>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| parse(row, column, &text)).transpose()
}

fn parse<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: &str, text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| unfit(row, column, error))
}

/// The error for a text that does not fit its column.
pub(crate) fn unfit(
    row: &Row<'_>,
    column: &str,
    problem: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> rusqlite::Error {
    let at = row.as_ref().column_index(column).unwrap_or(0);
    rusqlite::Error::FromSqlConversionFailure(at, Type::Text, problem.into())
}

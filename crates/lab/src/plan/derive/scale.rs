//! Scales a study: rows, caches and seconds change together.

use std::collections::BTreeMap;

use dyno_settings::{Product, has_effect};
use serde::Deserialize;

use crate::plan::derive::select;
use crate::plan::keys::rounds::RoundsNumber;
use crate::plan::keys::systems::system::System;
use crate::plan::syntax::error::Problem;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{Above0, At, Clients, Size};
use crate::plan::{Data, Plan, PlanError, Rounds};

/// Settings of cache sizes. They scale with the data. So data that fits into the cache still fits after scaling,
/// and larger data still does not.
const CACHES: [&str; 7] = [
    "innodb_buffer_pool_size",
    "rocksdb_block_cache_size",
    "key_buffer_size",
    "aria_pagecache_buffer_size",
    "tokudb_cache_size",
    "shared_buffers",
    "cache_size",
];

/// Settings of log sizes. They scale with the data, because the amount of write-back depends on the size of the log as
/// well as on the size of the data.
const LOGS: [&str; 3] = ["innodb_redo_log_capacity", "innodb_log_file_size", "max_wal_size"];

/// The setting for the number of files of a log. The size settings of InnoDB are for one file.
const LOG_FILES: &str = "innodb_log_files_in_group";

/// The smallest size to which a log is scaled, in bytes. A log must have space for what a busy server writes during a
/// checkpoint.
const LOG_BYTES_MIN: f64 = 128.0 * 1024.0 * 1024.0;
/// The smallest size to which a cache is scaled, in bytes. `InnoDB` refuses a buffer pool below 5 MiB (MySQL) or 6
/// MiB (MariaDB).
const CACHE_BYTES_MIN: f64 = 8.0 * 1024.0 * 1024.0;
/// The smallest size to which a volume is scaled, in bytes. A volume must have space for a server's own files and its
/// logs.
const VOLUME_BYTES_MIN: u64 = 2 << 30;
/// The shortest trial that scaling produces, in seconds. A step that is shorter in the plan keeps its seconds.
const SECONDS_MIN: f64 = 1.0;

/// How a plan is scaled.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// Factor for rows, caches, logs and seconds.
    pub factor: f64,
    /// Factor for seconds that replaces `factor`.
    pub seconds_factor: Option<f64>,
    /// Factor for caches that replaces `factor`.
    pub caches_factor: Option<f64>,
    /// Memory limit of each server, in bytes, which replaces the systems' own. It also limits the page cache that
    /// the server fills.
    pub memory_bytes: Option<u64>,
    /// Upper limit of the measured time of a trial, in seconds.
    pub seconds_max: Option<f64>,
    /// Numbers of clients to keep. If the list is empty, all are kept. A step that has none of these numbers keeps its
    /// own numbers.
    pub clients: Vec<u32>,
    /// Number of rounds; `None` keeps the plan's.
    pub rounds: Option<u32>,
    /// Ids of the systems to keep, in which `*` matches any text. If the list is empty, all are kept. The base and the
    /// anchor are always kept.
    pub systems: Vec<String>,
}

impl Scale {
    fn by(factor: f64) -> Self {
        Self {
            factor,
            seconds_factor: None,
            caches_factor: None,
            memory_bytes: None,
            seconds_max: None,
            clients: Vec::new(),
            rounds: None,
            systems: Vec::new(),
        }
    }
}

/// A scale as a plan writes it.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::plan) enum ScaleKey {
    #[serde(rename = "a number")]
    #[cfg_attr(test, schemars(untagged))]
    Factor(Above0),
    #[serde(rename = "a table")]
    #[cfg_attr(test, schemars(untagged))]
    Table(ScaleTable),
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct ScaleTable {
    /// On rows, caches, logs and seconds.
    factor: Above0,
    /// On seconds, instead of factor.
    seconds_factor: Option<Above0>,
    /// On caches, instead of factor. Use it where the server's cache also holds data that does not shrink
    /// with the tables.
    caches_factor: Option<Above0>,
    /// Limit of memory of each server, as in confinement, which also bounds the page cache that it fills. With data
    /// that is larger, reads come from the disk.
    memory: Option<Size>,
    /// Upper limit of the measured time of a trial.
    seconds_max: Option<Above0>,
    /// The numbers of connections that remain.
    clients: Option<Clients>,
    /// Number of rounds, instead of the plan's.
    rounds: Option<RoundsNumber>,
    /// Ids of the systems that remain; * matches any text. The base always remains.
    systems: Option<Vec<At<String>>>,
}

impl ScaleKey {
    /// Checks the scale. `known` are the plan's systems.
    pub(in crate::plan) fn read(self, known: &[System]) -> Result<Scale, Mistake> {
        match self {
            Self::Factor(factor) => Ok(Scale::by(factor.0)),
            Self::Table(table) => table.read(known),
        }
    }
}

impl ScaleTable {
    fn read(self, known: &[System]) -> Result<Scale, Mistake> {
        let check = |pattern: At<String>| {
            pattern.read(|pattern| select::check_systems(&pattern, known).map(|()| pattern))
        };
        Ok(Scale {
            factor: self.factor.0,
            seconds_factor: self.seconds_factor.map(|factor| factor.0),
            caches_factor: self.caches_factor.map(|factor| factor.0),
            memory_bytes: self.memory.map(|size| size.0),
            seconds_max: self.seconds_max.map(|seconds| seconds.0),
            clients: self.clients.map_or(Ok(Vec::new()), Clients::read)?,
            rounds: self.rounds.map(|rounds| rounds.0 as u32),
            systems: self.systems.into_iter().flatten().map(check).collect::<Result<_, _>>()?,
        })
    }
}

impl Plan {
    /// Finds the scale that the user names: a factor above 0, or the name of one of the plan's scales.
    ///
    /// # Errors
    /// The text is neither a factor nor the name of a scale.
    pub fn scale_of(&self, text: &str) -> Result<Scale, PlanError> {
        if let Some(scale) = self.scales.get(text) {
            return Ok(scale.clone());
        }
        match text.parse::<f64>() {
            Ok(factor) if factor.is_finite() && factor > 0.0 => Ok(Scale::by(factor)),
            Ok(_) => {
                Err(Problem::OutOfRange { key: "scale".to_owned(), wanted: "above 0".to_owned() }.into())
            }
            Err(_) => Err(Problem::unknown("scale", text, self.scales.keys()).into()),
        }
    }

    /// Scales the plan: rows, seconds, the cache and log sizes that the plan sets, and the sizes of volumes. Caches,
    /// logs and volumes stay large enough for servers. Trials stay at least a second long, or as long as in the plan
    /// if that is shorter, unless the scale sets a limit. Time budgets do not change. The number of rounds changes
    /// only if the scale has its own number.
    #[must_use]
    pub fn scaled(mut self, scale: &Scale) -> Self {
        let factor = scale.factor;
        let of_seconds = scale.seconds_factor.unwrap_or(factor);
        let of_caches = scale.caches_factor.unwrap_or(factor);
        self.keep_clients(&scale.clients);
        self.retain_systems(&scale.systems);
        self.rounds = scale.rounds.map_or(self.rounds, Rounds::Fixed);
        self.data = self.data.map(|data| Data { rows: scaled_rows(data.rows as f64, factor), ..data });
        for step in &mut self.steps {
            let seconds = (step.seconds * of_seconds).max(step.seconds.min(SECONDS_MIN));
            step.set_seconds(seconds.min(scale.seconds_max.unwrap_or(f64::INFINITY)));
            scale_rows(&mut step.options, factor);
            step.background.iter_mut().for_each(|background| scale_rows(&mut background.options, factor));
            step.warmup_seconds *= of_seconds;
            step.warmup_seconds_max *= of_seconds;
        }
        for system in &mut self.systems {
            // The size settings are for one log file, so the smallest size is divided by the number of files. Since
            // MariaDB 10.5, InnoDB has only one log file.
            let has_files = |product: &Product| has_effect(product, LOG_FILES);
            let files =
                system.settings.get(LOG_FILES).filter(|_| system.product().as_ref().is_none_or(has_files));
            let files = files.and_then(|files| files.parse().ok());
            let log_bytes_min = |name| match name {
                "innodb_log_file_size" => LOG_BYTES_MIN / files.unwrap_or(1.0),
                _ => LOG_BYTES_MIN,
            };
            let caches = CACHES.map(|name| (name, of_caches, CACHE_BYTES_MIN)).into_iter();
            let logs = LOGS.map(|name| (name, factor, log_bytes_min(name)));
            for (name, factor, bytes_min) in caches.chain(logs) {
                if let Some(value) = system.settings.get_mut(name) {
                    *value = scaled_size(value, factor, bytes_min).unwrap_or_else(|| value.clone());
                }
            }
            if scale.memory_bytes.is_some() && system.source.family().has_server() {
                system.confinement.memory_bytes = scale.memory_bytes;
            }
            if let Some(bytes) = &mut system.confinement.volume_bytes {
                *bytes = ((*bytes as f64 * factor) as u64).max(VOLUME_BYTES_MIN.min(*bytes));
            }
        }
        self.scale *= factor;
        self
    }
}

/// Scales the number of rows, or the scale factor, that a workload's own options set.
fn scale_rows(options: &mut BTreeMap<String, String>, factor: f64) {
    if let Some(own) = options.get_mut("scale_factor")
        && let Ok(number) = own.parse::<f64>()
    {
        *own = (number * factor).to_string();
    }
    if let Some(rows) = options.get_mut("table_size")
        && let Ok(number) = rows.parse::<f64>()
    {
        *rows = scaled_rows(number, factor).to_string();
    }
}

fn scaled_rows(rows: f64, factor: f64) -> u64 {
    (rows * factor).round().max(1.0) as u64
}

/// Scales a size such as `256M`, `1GB` or `-2000` (SQLite's notation for KiB). The result is at least `bytes_min`,
/// or the old size if that was smaller. Returns `None` if the text is not a size.
fn scaled_size(text: &str, factor: f64, bytes_min: f64) -> Option<String> {
    let digits = text.trim().trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.trim()[digits.len()..].to_ascii_lowercase();
    let number: f64 = digits.trim().parse().ok()?;
    if number < 0.0 {
        return Some(format!("{}", (number * factor).round().min(-1.0)));
    }
    let (unit_bytes, suffix) = match unit.as_str() {
        "" => (1.0, ""),
        "k" | "kb" => (1024.0, unit.as_str()),
        "m" | "mb" => (1024.0 * 1024.0, if unit.len() == 1 { "k" } else { "kB" }),
        "g" | "gb" => (1024.0 * 1024.0 * 1024.0, if unit.len() == 1 { "k" } else { "kB" }),
        _ => return None,
    };
    let bytes = number * unit_bytes;
    let scaled = (bytes * factor).max(bytes.min(bytes_min));
    let divisor = if suffix.is_empty() { 1.0 } else { 1024.0 };
    Some(format!("{}{suffix}", (scaled / divisor).round()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::{TEXT, parse, plan};

    #[test]
    fn data_and_caches_change_together() {
        let plan = parse(&TEXT.replace("64M", "1G").replace("rows = 100", "rows = 1000000")).unwrap();
        let small = plan.scaled(&Scale::by(0.01));
        assert_eq!(small.data.unwrap().rows, 10_000);
        assert_eq!(small.systems[0].settings["innodb_buffer_pool_size"], "10486k");
        assert_eq!(small.systems[0].settings["innodb_doublewrite"], "1");
        assert!((small.scale - 0.01).abs() < 1e-12);
    }

    #[test]
    fn caches_have_a_factor_of_their_own_where_all_data_is_to_stay_in_memory() {
        let text = TEXT.replace("64M", "4G");
        let plan =
            parse(&format!("{text}[scale]\nsmall = {{ factor = 0.01, caches_factor = 0.05 }}\n")).unwrap();
        let small = plan.scale_of("small").unwrap();
        let settings = &plan.scaled(&small).systems[0].settings;
        assert_eq!(settings["innodb_buffer_pool_size"], "209715k");
    }

    #[test]
    fn a_scale_can_limit_the_memory_of_servers() {
        let limits = "innodb_doublewrite = 1 }\nconfinement = { memory = \"8G\", iops = 500 }";
        let text = TEXT.replace("innodb_doublewrite = 1 }", limits);
        let text = format!("{text}[scale]\nlarge = {{ factor = 2, memory = \"1G\" }}\nlarger = 2\n");
        let plan = parse(&text).unwrap();
        let limits = |scale: &str, system: usize| {
            let scaled = plan.clone().scaled(&plan.scale_of(scale).unwrap());
            let limits = &scaled.systems[system].confinement;
            (limits.memory_bytes, limits.io.read_iops)
        };
        assert_eq!(limits("larger", 0), (Some(8 << 30), Some(500)));
        assert_eq!(limits("large", 0), (Some(1 << 30), Some(500)));
        let sqlite = plan.systems.iter().position(|system| !system.source.family().has_server()).unwrap();
        assert_eq!(limits("large", sqlite), (None, None), "SQLite has no server");
    }

    #[test]
    fn volumes_follow_the_data_and_hold_a_server_at_least() {
        for (volume, tenth) in [("60G", 6 << 30), ("10G", 2 << 30), ("1G", 1 << 30)] {
            let limits = format!("confinement = {{ iops = 500, volume = \"{volume}\" }}\nseconds = 2");
            let free = TEXT.replace("engine = \"sqlite\"", "engine = \"sqlite\"\nconfinement = {}");
            let small = parse(&free.replacen("seconds = 2", &limits, 1)).unwrap().scaled(&Scale::by(0.1));
            let confinement = &small.systems[0].confinement;
            assert_eq!(
                (confinement.volume_bytes, confinement.io.read_iops),
                (Some(tenth), Some(500)),
                "{volume}"
            );
        }
    }

    #[test]
    fn nothing_becomes_too_small_to_work() {
        let small = plan().scaled(&Scale::by(1e-6));
        assert_eq!(small.data.unwrap().rows, 1);
        assert_eq!(small.systems[0].settings["innodb_buffer_pool_size"], "8192k");
        assert!((small.steps[1].seconds - 1.0).abs() < 1e-12);
    }

    #[test]
    fn rows_of_a_step_s_own_and_times_of_joins_change_too() {
        let mixed = "seconds = 10\n[step.options]\ntable_size = 50\n[[step.background]]\nid = \"writers\"\n\
                     workload = \"oltp_update_index\"\noperation = \"query\"\noptions = { table_size = 40 }\n\
                     clients = [{ at_seconds = 4, clients = 2 }, { at_seconds = 8, clients = 6 }]\n";
        let text = TEXT.replace("options = { range_size = 10, skip_trx = true }\n", mixed);
        let small = parse(&text).unwrap().scaled(&Scale::by(0.5));
        let step = &small.steps[1];
        let background = &step.background[0];
        assert_eq!((&*step.options["table_size"], &*background.options["table_size"]), ("25", "20"));
        let times: Vec<f64> = background.joins.iter().map(|join| join.at_seconds).collect();
        assert_eq!((step.seconds, times), (5.0, vec![2.0, 4.0]));
    }

    #[test]
    fn times_of_events_change_too() {
        let event = "seconds = 10\n[[step.event]]\nat_seconds = 4\nidle_transaction_seconds = 2\nuntil = \"done\"\n\
                     after_seconds = 8\n";
        let text = TEXT.replace("options = { range_size = 10, skip_trx = true }\n", event);
        let small = parse(&text).unwrap().scaled(&Scale::by(0.5));
        let event = &small.steps[1].step_events[0];
        assert_eq!((event.at_seconds, event.after_seconds), (2.0, 4.0));
        assert!((event.ends_at_least_seconds() - 7.0).abs() < 1e-12);
    }

    #[test]
    fn warm_up_follows_the_data_and_a_budget_of_time_does_not() {
        let budget = "budget_seconds = 600\nwarmup_seconds_max = 20";
        let small = parse(&TEXT.replace("rounds = 4", budget)).unwrap().scaled(&Scale::by(0.1));
        let step = &small.steps[1];
        assert!((step.warmup_seconds - 0.05).abs() < 1e-12 && (step.warmup_seconds_max - 2.0).abs() < 1e-12);
        assert_eq!(small.rounds, Rounds::Budget { seconds: 600.0 });
    }

    #[test]
    fn logs_stay_large_enough() {
        for (size, hundredth) in [("1G", "131072k"), ("32G", "335544k"), ("64M", "65536k")] {
            assert_eq!(scaled_size(size, 0.01, LOG_BYTES_MIN).as_deref(), Some(hundredth), "{size}");
        }
    }

    #[test]
    fn a_log_of_several_files_is_as_large_as_one_of_one() {
        let mut plan = plan();
        let log = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, size)| ((*name).to_owned(), (*size).to_owned())).collect()
        };
        plan.systems[0].settings = log(&[("innodb_log_file_size", "1G"), ("innodb_log_files_in_group", "2")]);
        plan.systems[1].settings = log(&[("innodb_redo_log_capacity", "2G")]);
        let small = plan.scaled(&Scale::by(0.01));
        assert_eq!(small.systems[0].settings["innodb_log_file_size"], "65536k");
        assert_eq!(small.systems[1].settings["innodb_redo_log_capacity"], "131072k");
        // MariaDB 10.11 ignores the setting for the number of files, so the scaled size is the size of the whole log.
        let mut plan = crate::plan::testing::plan();
        plan.systems[1].settings = log(&[("innodb_log_file_size", "1G"), ("innodb_log_files_in_group", "2")]);
        let small = plan.scaled(&Scale::by(0.01));
        assert_eq!(small.systems[1].settings["innodb_log_file_size"], "131072k");
    }

    #[test]
    fn sizes_of_every_notation_are_scaled() {
        let cases =
            [("1073741824", "107374182"), ("1G", "104858k"), ("4GB", "419430kB"), ("-20000", "-2000")];
        for (size, tenth) in cases {
            assert_eq!(scaled_size(size, 0.1, CACHE_BYTES_MIN).as_deref(), Some(tenth), "{size}");
        }
        assert_eq!(scaled_size("auto", 0.1, CACHE_BYTES_MIN), None);
    }

    #[test]
    fn a_scale_is_a_number_or_a_name_of_the_plan() {
        let plan = parse(&format!("{TEXT}\n[scale]\nsmall = 0.01\n")).unwrap();
        assert_eq!(plan.scale_of("small"), Ok(Scale::by(0.01)));
        assert_eq!(plan.scale_of("0.5"), Ok(Scale::by(0.5)));
        let error = |text| plan.scale_of(text).unwrap_err().to_string();
        assert_eq!(error("smal"), "there is no scale `smal` — did you mean `small`?");
        assert_eq!(error("0"), "`scale` must be above 0");
    }

    #[test]
    fn a_scale_can_leave_fewer_clients_and_shorter_trials() {
        let scale = "small = { factor = 0.5, seconds_max = 0.4, clients = [4, 64] }";
        let plan = parse(&format!("{TEXT}\n[scale]\n{scale}\n")).unwrap();
        let small = plan.scale_of("small").unwrap();
        let small = plan.scaled(&small);
        assert_eq!(small.steps[1].clients, [4]);
        assert!((small.steps[1].seconds - 0.4).abs() < 1e-12);
        assert_eq!(small.rounds, Rounds::Fixed(4));
        let fewer = parse(&format!("{TEXT}\n[scale]\nsmall = {{ factor = 1, rounds = 2 }}\n")).unwrap();
        let scale = fewer.scale_of("small").unwrap();
        assert_eq!(fewer.scaled(&scale).rounds, Rounds::Fixed(2));
        let some =
            parse(&format!("{TEXT}\n[scale]\nsmall = {{ factor = 1, systems = [\"b*\"] }}\n")).unwrap();
        let scale = some.scale_of("small").unwrap();
        let ids: Vec<String> = some.scaled(&scale).systems.into_iter().map(|system| system.id).collect();
        assert_eq!(ids, ["a", "b"], "the base stays");
        let scale = "small = { factor = 0.01, seconds_factor = 0.75 }";
        let slower = parse(&format!("{TEXT}\n[scale]\n{scale}\n")).unwrap();
        let scale = slower.scale_of("small").unwrap();
        let slower = slower.scaled(&scale);
        assert_eq!((slower.data.unwrap().rows, slower.steps[1].seconds), (1, 1.5));
        for wrong in [
            "{ factor = 1, systems = [\"bb\"] }",
            "{ clients = [1] }",
            "{ factor = 0 }",
            "{ factor = 1, client = [1] }",
            "\"0.1\"",
        ] {
            assert!(parse(&format!("{TEXT}\n[scale]\nsmall = {wrong}\n")).is_err(), "{wrong}");
        }
    }
}

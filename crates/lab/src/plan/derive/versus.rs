//! Turns a few words (the systems to compare, a workload, a size) into a plan. The plan is written as TOML, so that
//! users can save it and extend it to a study.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::str::FromStr;

use dyno_engine::{EngineName, EngineNameError, SystemName};
use dyno_settings::plain_name;
use toml::Value;

/// What the user wants to compare, and the load.
#[derive(Clone, Debug)]
pub struct Versus {
    /// The systems to compare. The first is the base.
    pub contenders: Vec<Contender>,
    /// Name of the profile from which servers that Dyno starts get their settings.
    pub profile: String,
    /// The script to run. Without a script, four workloads on sysbench's table are measured: points, ranges,
    /// updates and transactions.
    pub script: Option<Script>,
    /// Number of tables and number of rows per table. `None` if the script sets its own.
    pub data: Option<(u32, u64)>,
    pub clients: Vec<u32>,
    /// Measured time of a trial (one system in one step in one round).
    pub seconds: f64,
    /// Upper limit of rounds.
    pub rounds_max: u32,
}

/// A script that the user names.
#[derive(Clone, Debug)]
pub struct Script {
    /// The script's file, or the name of a built-in workload.
    pub name: String,
    pub options: BTreeMap<String, String>,
    /// Whether the script's command `prepare` runs first.
    pub is_prepared: bool,
}

/// A system in the user's words: the name of an engine and optional settings (`mariadb@11.8
/// innodb_flush_method=fsync`), or the address of a running server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contender {
    place: Place,
    /// The storage engine for tables. `None` uses the one in the engine's name, or else the server's default.
    storage_engine: Option<String>,
    settings: BTreeMap<String, String>,
}

/// In `NAME=VALUE`, this name sets the key `storage_engine` of the system, not a variable of the server.
const STORAGE_ENGINE: &str = "storage_engine";

/// How the user names a system.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Engine(EngineName),
    Dsn(String),
}

impl FromStr for Contender {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, settings) = parts(text);
        let place = if name.is_empty() {
            return Err("names no system; write one such as mariadb@11.8".to_owned());
        } else if name.contains("://") {
            Place::Dsn(name.to_owned())
        } else if !name.starts_with(['.', '/', '~'])
            && let Some((_, word)) = name.split_once(char::is_whitespace)
        {
            return Err(format!("`{word}` is not a setting; write NAME=VALUE after the system's name"));
        } else {
            Place::Engine(name.parse().map_err(|error: EngineNameError| error.to_string())?)
        };
        let (mut given, mut storage_engine) = (BTreeMap::new(), None);
        for word in settings {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let earlier = if plain_name(name) == STORAGE_ENGINE {
                storage_engine.replace(value.to_owned())
            } else {
                given.insert(name.to_owned(), value.to_owned())
            };
            if earlier.is_some() {
                return Err(format!("`{name}` is given twice"));
            }
        }
        if matches!(place, Place::Dsn(_)) && !given.is_empty() {
            return Err("a server that runs already cannot be given settings".to_owned());
        }
        Ok(Self { place, storage_engine, settings: given })
    }
}

/// Splits a text into the name and the words `NAME=VALUE` after it. A name that is a path may contain spaces.
fn parts(text: &str) -> (&str, Vec<&str>) {
    let mut name = text.trim();
    let mut settings = Vec::new();
    while let Some((before, word)) = name.rsplit_once(char::is_whitespace)
        && word.split_once('=').is_some_and(|(name, _)| !name.is_empty())
    {
        settings.insert(0, word);
        name = before.trim_end();
    }
    (name, settings)
}

impl Contender {
    /// Returns the engine in the catalogue, or `None` for a folder, an image or an address.
    pub fn engine(&self) -> Option<&SystemName> {
        match &self.place {
            Place::Engine(EngineName::Catalogue(name)) => Some(name),
            Place::Engine(_) | Place::Dsn(_) => None,
        }
    }

    /// Returns the name of the engine: an entry of the catalogue, a folder or an image. `None` for a running
    /// server.
    pub fn engine_name(&self) -> Option<&EngineName> {
        match &self.place {
            Place::Engine(name) => Some(name),
            Place::Dsn(_) => None,
        }
    }

    /// Returns the id of the system in reports.
    pub(super) fn id(&self) -> String {
        let name = match &self.place {
            Place::Engine(EngineName::Basedir(path)) => path
                .file_name()
                .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned()),
            Place::Engine(name) => name.to_string(),
            // The id is shown in reports, so it contains only the host, without the account and the parameters.
            Place::Dsn(address) => {
                let host = address.rsplit_once('@').map_or(address.as_str(), |(_, host)| host);
                host.split(['/', '?'])
                    .find(|part| !part.is_empty() && !part.ends_with(':'))
                    .unwrap_or("server")
                    .to_owned()
            }
        };
        let storage_engine = self.storage_engine.iter().map(|name| format!("/{name}"));
        let settings = self.settings.iter().map(|(name, value)| format!(" {name}={value}"));
        name + &storage_engine.chain(settings).collect::<String>()
    }

    /// Writes the table `[[system]]` of this system for a plan. The caller may append more keys to the table.
    pub(super) fn table(&self, id: &str) -> String {
        let mut text = format!("\n[[system]]\nid = {}\n", quoted(id));
        let (key, value) = match &self.place {
            Place::Engine(EngineName::Basedir(path)) => ("basedir", path.display().to_string()),
            Place::Engine(name) => ("engine", name.to_string()),
            Place::Dsn(address) => ("dsn", address.clone()),
        };
        let _ = writeln!(text, "{key} = {}", quoted(&value));
        if let Some(storage_engine) = &self.storage_engine {
            let _ = writeln!(text, "{STORAGE_ENGINE} = {}", quoted(storage_engine));
        }
        if !self.settings.is_empty() {
            let settings = self.settings.iter().map(assignment);
            let _ = writeln!(text, "settings = {{ {} }}", settings.collect::<Vec<_>>().join(", "));
        }
        text
    }
}

impl Versus {
    /// Writes the plan as TOML.
    pub fn toml(&self) -> String {
        let ids = self.ids();
        let title = match &ids[..] {
            [only] => only.clone(),
            [base, others @ ..] => format!("{} against {base}", others.join(" and ")),
            [] => String::new(),
        };
        let rounds = if ids.len() > 1 {
            format!("rounds = \"until-decided\"\nrounds_max = {}", self.rounds_max)
        } else {
            "rounds = 3".to_owned()
        };
        let mut text = format!(
            "name = \"versus\"\ntitle = {}\nbase = {}\n{rounds}\nload = \"once\"\nwarm = true\nclients = {:?}\n\
             seconds = {}\nwarmup_seconds = {}\nwarmup_seconds_max = {}\nprofile = {}\n",
            quoted(&title),
            quoted(ids.first().map_or("", String::as_str)),
            self.clients,
            self.seconds,
            self.seconds / 5.0,
            self.seconds * 4.0,
            quoted(&self.profile),
        );
        if let Some((tables, rows)) = self.data {
            let _ = write!(text, "\n[data]\ntables = {tables}\nrows = {rows}\n");
        }
        for (contender, id) in self.contenders.iter().zip(&ids) {
            text += &contender.table(id);
        }
        text + &self.steps()
    }

    /// Returns the ids of the systems. An id that occurs again gets a number, such as `a #2`.
    fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = Vec::new();
        for contender in &self.contenders {
            let id = contender.id();
            let times =
                ids.iter().filter(|known| **known == id || known.starts_with(&format!("{id} #"))).count();
            ids.push(if times == 0 { id } else { format!("{id} #{}", times + 1) });
        }
        ids
    }

    fn steps(&self) -> String {
        let Some(script) = &self.script else {
            let mix =
                MIX.map(|(id, workload, operation, options)| step(id, "run", workload, operation, options));
            return step("load", "prepare", "oltp_read_write", "row", "") + &mix.concat();
        };
        let options: Vec<String> = script.options.iter().map(assignment).collect();
        let options = options.join(", ");
        let name = Path::new(&script.name)
            .file_stem()
            .map_or(script.name.clone(), |stem| stem.to_string_lossy().into_owned());
        let load = if script.is_prepared {
            step("load", "prepare", &script.name, "row", &options)
        } else {
            String::new()
        };
        let id = if name == "load" { "script" } else { &name };
        load + &step(id, "run", &script.name, "transaction", &options)
    }
}

/// The steps of a plan if the user names no script. Each has an id, a workload, an operation and options.
const MIX: [(&str, &str, &str, &str); 4] = [
    ("point", "oltp_point_select", "query", ""),
    ("range", "oltp_range_select", "query", "key = \"id\", columns = \"id, c\", range_size = 100"),
    ("update", "oltp_update_index", "query", ""),
    ("transaction", "oltp_read_write", "transaction", ""),
];

fn step(id: &str, command: &str, workload: &str, operation: &str, options: &str) -> String {
    let group = if command == "prepare" { "load" } else { id };
    let mut text = format!(
        "\n[[step]]\nid = {0}\ngroup = {1}\nworkload = {2}\noperation = \"{operation}\"\n",
        quoted(id),
        quoted(group),
        quoted(workload)
    );
    if command == "prepare" {
        text += "command = \"prepare\"\nclients = [1]\n";
    }
    if !options.is_empty() {
        let _ = writeln!(text, "options = {{ {options} }}");
    }
    text
}

/// Writes an assignment of TOML: `name = "value"`.
fn assignment((name, value): (&String, &String)) -> String {
    let is_bare = name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter));
    let name = if is_bare { name.clone() } else { quoted(name) };
    format!("{name} = {}", quoted(value))
}

/// Writes a text as a string of TOML.
pub(super) fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use dyno_engine::Catalogue;

    use super::*;
    use crate::plan::{Plan, Rounds, Source};

    fn versus(contenders: &[&str]) -> Versus {
        Versus {
            contenders: contenders.iter().map(|text| text.parse().unwrap()).collect(),
            profile: "safe".to_owned(),
            script: None,
            data: Some((1, 10_000)),
            clients: vec![1, 4],
            seconds: 1.0,
            rounds_max: 20,
        }
    }

    fn plan(versus: &Versus) -> Plan {
        let text = versus.toml();
        Plan::parse(&text, "versus.toml", Path::new(""), &Catalogue::builtin())
            .unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn ids(plan: &Plan) -> Vec<&str> {
        plan.systems.iter().map(|system| system.id.as_str()).collect()
    }

    #[test]
    fn two_versions_become_a_plan() {
        let plan = plan(&versus(&["mariadb@10.11", "mariadb@10.11 innodb_flush_method=fsync"]));
        assert_eq!(ids(&plan), ["mariadb@10.11", "mariadb@10.11 innodb_flush_method=fsync"]);
        assert_eq!(plan.title, "mariadb@10.11 innodb_flush_method=fsync against mariadb@10.11");
        assert_eq!(plan.systems[1].settings["innodb_flush_method"], "fsync");
        assert_eq!(plan.systems[0].settings["sync_binlog"], "1");
        let steps: Vec<&str> = plan.steps.iter().map(|step| step.id.as_str()).collect();
        assert_eq!(steps, ["load", "point", "range", "update", "transaction"]);
        assert!(matches!(plan.rounds, Rounds::UntilDecided(decision) if decision.rounds_max == 20));
    }

    #[test]
    fn one_server_has_no_verdicts_and_keeps_its_account_out_of_reports() {
        let plan = plan(&versus(&["mysql://root:${PASSWORD}@db.example:3306/bench?ssl-mode=REQUIRED"]));
        assert_eq!(ids(&plan), ["db.example:3306"]);
        assert!(matches!(plan.systems[0].source, Source::Dsn { .. }));
        assert_eq!(plan.rounds, Rounds::Fixed(3));
    }

    #[test]
    fn the_same_system_twice_has_two_names() {
        assert_eq!(versus(&["sqlite", "sqlite", "sqlite"]).ids(), ["sqlite", "sqlite #2", "sqlite #3"]);
        let folders = versus(&["./main/build", "./pr/build"]);
        assert_eq!(folders.ids(), ["build", "build #2"]);
    }

    #[test]
    fn a_script_has_its_options_and_its_load() {
        let script = Script {
            name: "oltp_insert".to_owned(),
            options: [("table_size".to_owned(), "5\"".to_owned())].into(),
            is_prepared: true,
        };
        let text = Versus { script: Some(script), data: None, ..versus(&["sqlite", "sqlite"]) }.toml();
        assert_eq!(text.matches("options = { table_size = '5\"' }").count(), 2, "{text}");
        assert!(text.contains("id = \"oltp_insert\""), "{text}");
    }

    #[test]
    fn what_is_no_system_is_told() {
        let error = |text: &str| text.parse::<Contender>().unwrap_err();
        assert_eq!(error(" "), "names no system; write one such as mariadb@11.8");
        assert_eq!(error("sqlite WAL"), "`WAL` is not a setting; write NAME=VALUE after the system's name");
        assert!(error("mysql://root@h/db a=1").contains("cannot be given settings"));
        assert_eq!(error("sqlite a=1 a=2"), "`a` is given twice");
        assert!(error("oci:--privileged").contains("is not the name of an image"));
        let build: Contender = "./my build a=1".parse().unwrap();
        assert_eq!(build.id(), "my build a=1");
        let build: Contender = "~/builds/main innodb_flush_method=fsync".parse().unwrap();
        let path = std::env::home_dir().unwrap().join("builds/main");
        assert_eq!(build.id(), "main innodb_flush_method=fsync");
        assert!(build.table("main").contains(&format!("basedir = {}\n", quoted(path.to_str().unwrap()))));
        let rocks: Contender = "./build storage-engine=rocksdb a=1".parse().unwrap();
        assert_eq!(rocks.id(), "build/rocksdb a=1");
        assert!(
            rocks
                .table("x")
                .ends_with("basedir = \"./build\"\nstorage_engine = \"rocksdb\"\nsettings = { a = \"1\" }\n")
        );
        let server: Contender = "mysql://root@h/db storage_engine=myisam".parse().unwrap();
        assert_eq!(server.id(), "h/myisam");
        assert_eq!(error("./build storage_engine=a storage_engine=b"), "`storage_engine` is given twice");
        let image: Contender = "oci:localhost/mysql:8.4".parse().unwrap();
        assert!(
            image.engine().is_none() && image.table("x").contains("engine = \"oci:localhost/mysql:8.4\"\n")
        );
    }
}

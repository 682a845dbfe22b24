//! The plan of an upgrade. It replays the same traffic on two versions. The second version has an upgraded copy of
//! the first version's data, or loads the same data.

use std::fmt::Write as _;

use super::versus::{Contender, quoted};

/// An upgrade whose effect is measured.
#[derive(Clone, Debug)]
pub struct Upgrade {
    pub from: Contender,
    pub to: Contender,
    /// The traffic file.
    pub traffic: String,
    /// The data with which the old version starts; `None` for an empty database.
    pub data: Option<String>,
    /// Whether the new version loads the same data as the old version. Otherwise the new version starts from an
    /// upgraded copy of that data.
    pub is_reloaded: bool,
    /// A file of SQL that the new version executes on its data.
    pub changes: Option<String>,
    /// The name of the database that contains the data.
    pub database: Option<String>,
    /// Speed of the replay as a multiple of the logged speed. With `None`, a session sends each statement as soon as
    /// the previous one has ended.
    pub pace: Option<f64>,
    /// Number of simultaneous sessions. It is used only without a pace.
    pub sessions: u32,
    pub rounds: u32,
    /// Upper limit of the time of a replay, in seconds.
    pub seconds_max: Option<f64>,
    /// Whether answers are compared.
    pub compares_answers: bool,
    pub profile: String,
}

impl Upgrade {
    /// Returns the ids of the system before the upgrade and the system after it.
    pub fn ids(&self) -> [String; 2] {
        let [from, to] = [self.from.id(), self.to.id()];
        let to = if from == to { format!("{to} upgraded") } else { to };
        [from, to]
    }

    /// Writes the plan as TOML.
    pub fn toml(&self) -> String {
        let [from, to] = self.ids();
        let mut text = format!(
            "name = \"upgrade\"\ntitle = {}\nbase = {}\nrounds = {}\nwarm = true\nclients = [1]\nseconds = 1\nprofile = {}\n",
            quoted(&format!("the upgrade from {from} to {to}")),
            quoted(&from),
            self.rounds,
            quoted(&self.profile),
        );
        let data = self.data.as_ref().map(|data| ("data", data));
        text += &self.system(&self.from, &from, data);
        let upgraded = ("upgrade_of", &from);
        text += &self.system(&self.to, &to, if self.is_reloaded { data } else { Some(upgraded) });
        if let Some(changes) = &self.changes {
            let _ = writeln!(text, "data_sql = {}", quoted(changes));
        }
        let _ = write!(
            text,
            "\n[[step]]\nid = \"traffic\"\nworkload = \"traffic\"\ntraffic = {}\nanswers = {}\n",
            quoted(&self.traffic),
            self.compares_answers
        );
        let _ = match self.pace {
            Some(pace) => writeln!(text, "pace = {pace:?}"),
            None => writeln!(text, "pace = \"closed\"\nclients = [{}]", self.sessions),
        };
        if let Some(seconds) = self.seconds_max {
            let _ = writeln!(text, "seconds = {seconds:?}");
        }
        text
    }

    fn system(&self, contender: &Contender, id: &str, data: Option<(&str, &String)>) -> String {
        let mut text = contender.table(id);
        if let Some((key, value)) = data {
            let _ = writeln!(text, "{key} = {}", quoted(value));
            if let Some(database) = &self.database {
                let _ = writeln!(text, "database = {}", quoted(database));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use dyno_engine::Catalogue;

    use super::*;
    use crate::plan::{DataOrigin, Plan, PlanError};

    fn upgrade(folder: &Path) -> Upgrade {
        Upgrade {
            from: "mariadb@10.5 sort_buffer_size=1M".parse().unwrap(),
            to: "mariadb@11.8".parse().unwrap(),
            traffic: folder.join("my.traffic").display().to_string(),
            data: None,
            is_reloaded: false,
            changes: None,
            database: None,
            pace: None,
            sessions: 2,
            rounds: 8,
            seconds_max: Some(30.0),
            compares_answers: true,
            profile: "stock".to_owned(),
        }
    }

    /// Parses the plan of an upgrade.
    fn parse(upgrade: &Upgrade) -> Result<Plan, PlanError> {
        Plan::parse(&upgrade.toml(), "upgrade.toml", Path::new(""), &Catalogue::builtin())
    }

    fn traffic(folder: &Path) -> Upgrade {
        let log = "# Time: 2024-01-01T00:00:00.000000Z\n# User@Host: a[a] @ localhost []  Id:     8\n\
                   # Query_time: 0.000100  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 0\n\
                   SET timestamp=1704067200;\nSELECT 1;\n";
        std::fs::write(folder.join("slow.log"), log).unwrap();
        let upgrade = upgrade(folder);
        let stop = std::sync::atomic::AtomicBool::new(false);
        let options = dyno_traffic::Options {
            out: Path::new(&upgrade.traffic),
            overwrite: true,
            format: None,
            redact: false,
            keep_users: false,
            stop: &stop,
        };
        dyno_traffic::import(&[folder.join("slow.log")], &options, &mut |_| ()).unwrap();
        upgrade
    }

    #[test]
    fn the_second_system_has_the_data_of_the_first_upgraded() {
        let folder = tempfile::tempdir().unwrap();
        let plan = parse(&traffic(folder.path())).unwrap();
        let ids: Vec<&str> = plan.systems.iter().map(|system| system.id.as_str()).collect();
        assert_eq!(ids, ["mariadb@10.5 sort_buffer_size=1M", "mariadb@11.8"]);
        assert!(plan.systems[0].data.is_none());
        let data = plan.systems[1].data.as_ref().unwrap();
        assert!(matches!(&data.origin, DataOrigin::UpgradeOf(id) if *id == ids[0]));
        assert_eq!(plan.steps[0].clients, [2]);
    }

    #[test]
    fn a_dump_may_be_loaded_into_both_and_a_pace_has_no_sessions() {
        let folder = tempfile::tempdir().unwrap();
        let dump = folder.path().join("shop.sql");
        std::fs::write(&dump, "SELECT 1;").unwrap();
        let upgrade = Upgrade {
            to: "mariadb@10.5 sort_buffer_size=1M".parse().unwrap(),
            data: Some(dump.display().to_string()),
            is_reloaded: true,
            database: Some("shop".to_owned()),
            pace: Some(2.0),
            ..traffic(folder.path())
        };
        let plan = parse(&upgrade).unwrap();
        assert_eq!(plan.systems[1].id, "mariadb@10.5 sort_buffer_size=1M upgraded");
        for system in &plan.systems {
            let data = system.data.as_ref().unwrap();
            assert!(matches!(&data.origin, DataOrigin::Dump(path) if *path == dump));
            assert_eq!(data.database.as_deref(), Some("shop"));
        }
    }

    #[test]
    fn changes_are_of_the_version_after_only() {
        let folder = tempfile::tempdir().unwrap();
        let after = folder.path().join("after.sql");
        std::fs::write(&after, "SELECT 1;").unwrap();
        let upgrade = Upgrade { changes: Some(after.display().to_string()), ..traffic(folder.path()) };
        let plan = parse(&upgrade).unwrap();
        assert!(plan.systems[0].data.is_none());
        assert_eq!(plan.systems[1].data.as_ref().unwrap().changes.as_deref(), Some(after.as_path()));
        let error = |upgrade: &Upgrade| parse(upgrade).unwrap_err().to_string();
        let nowhere = Upgrade { changes: Some("./nowhere.sql".to_owned()), ..upgrade.clone() };
        assert!(error(&nowhere).contains("nowhere.sql"), "{}", error(&nowhere));
        let text = upgrade.toml().replace("upgrade_of = \"mariadb@10.5 sort_buffer_size=1M\"\n", "");
        let error = Plan::parse(&text, "upgrade.toml", Path::new(""), &Catalogue::builtin()).unwrap_err();
        assert!(error.to_string().contains("`data_sql` changes `data`"), "{error}");
    }

    #[test]
    fn wrong_data_is_told_at_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let error = |upgrade: &Upgrade| parse(upgrade).unwrap_err().to_string();
        let missing = Upgrade { data: Some("./nowhere.sql".to_owned()), ..traffic(folder.path()) };
        assert!(error(&missing).contains("nowhere.sql"), "{}", error(&missing));
        let unknown = Upgrade { data: Some("no_such_workload".to_owned()), ..missing };
        assert!(error(&unknown).contains("no_such_workload"), "{}", error(&unknown));
        let text = traffic(folder.path())
            .toml()
            .replace("upgrade_of = \"mariadb@10.5 sort", "upgrade_of = \"mariadb@10.5 srt");
        let error =
            Plan::parse(&text, "upgrade.toml", Path::new(""), &Catalogue::builtin()).unwrap_err().to_string();
        assert!(error.contains("earlier system"), "{error}");
    }
}

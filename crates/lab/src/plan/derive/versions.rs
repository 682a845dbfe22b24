//! Plans that compare two versions, for `dyno bisect`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use dyno_engine::{Catalogue, EngineName, EngineNameError};
use dyno_host::Confinement;
use dyno_settings::Profile;
use dyno_store::{Origin, Run, SearchQuestion, SearchSide, SystemRecord};

use crate::plan::context::{Builds, ParseContext};
use crate::plan::keys::systems::source::named;
use crate::plan::keys::systems::system::{System, translated};
use crate::plan::syntax::error::{PlanError, Problem};
use crate::plan::{Decision, Plan, Rounds};

impl Plan {
    /// Returns the plan with the two versions of a bisection's run instead of its systems. Both versions have the
    /// settings of that run.
    pub(super) fn with_versions_of(self, run: &Run, catalogue: &Catalogue) -> Result<Self, PlanError> {
        let system = |record: &SystemRecord| -> Result<System, Problem> {
            let version = match record.origin {
                Origin::Basedir => EngineName::Basedir(record.id.clone().into()),
                _ => record.id.parse().map_err(|error: EngineNameError| Problem::Other(error.to_string()))?,
            };
            let system = bare(&version, catalogue).map_err(Problem::Other)?;
            Ok(System { profile: record.profile.clone(), settings: record.asked(), ..system })
        };
        let systems = run.systems.iter().map(system).collect::<Result<_, _>>()?;
        Ok(Self {
            systems,
            base: 0,
            anchor: None,
            claims: Vec::new(),
            ladders: Vec::new(),
            crash: None,
            ..self
        })
    }

    /// Returns the plan with its systems replaced by two versions. The first is the base. Both versions get
    /// the settings of a profile. The plan runs until the comparison of the two is decided.
    ///
    /// # Errors
    /// A version is not in the catalogue, a folder has no server, or the profile does not fit.
    pub fn between_two(
        self,
        versions: [&EngineName; 2],
        profile: &Profile,
        decision: Decision,
        catalogue: &Catalogue,
        question: SearchQuestion,
    ) -> Result<Self, PlanError> {
        let listen = self.systems[self.base].listen;
        let system = |version: &EngineName| -> Result<System, Problem> {
            let system = system(version, profile, catalogue).map_err(Problem::Other)?;
            Ok(System { listen, ..system })
        };
        let systems = [system(versions[0])?, system(versions[1])?];
        let title = format!("{} against {}", versions[1], versions[0]);
        // The record keeps the settings of the profile, because the profile may give other settings next time.
        let side = |system: &System| SearchSide {
            system: system.source.name(),
            settings: system
                .settings
                .iter()
                .map(|(name, value)| (name.clone(), Some(value.clone())))
                .collect(),
            ..SearchSide::default()
        };
        let sides = [side(&systems[0]), side(&systems[1])];
        Ok(Self { title, ..self.with_systems(systems, sides, Rounds::UntilDecided(decision), question) })
    }
}

fn system(version: &EngineName, profile: &Profile, catalogue: &Catalogue) -> Result<System, String> {
    let mut system = System { profile: Some(profile.name.clone()), ..bare(version, catalogue)? };
    system.settings = translated(&system, profile)?;
    Ok(system)
}

/// Returns a version as a system without settings.
fn bare(version: &EngineName, catalogue: &Catalogue) -> Result<System, String> {
    let files = RefCell::default();
    let context = ParseContext { folder: Path::new(""), catalogue, builds: Builds::Asked, files: &files };
    Ok(System {
        id: version.to_string(),
        source: named(version.clone(), None, &context)?,
        replication: None,
        pooler: None,
        profile: None,
        settings: BTreeMap::new(),
        confinement: Confinement::default(),
        listen: None,
        dollars_per_hour: None,
        price: None,
        control_of: None,
        configuration: None,
        ladder: None,
        data_settings: None,
        data: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::plan;

    fn question() -> SearchQuestion {
        SearchQuestion::Bisection {
            profile: "like-56".to_owned(),
            comparisons_max: 2,
            margin: 0.02,
            confirmation: 0,
        }
    }

    #[test]
    fn the_steps_stay_and_the_systems_change() {
        let (profile, catalogue) = (Profile::find("like-56").unwrap(), Catalogue::builtin());
        let [old, new, misspelt] = ["mysql@5.6.24/innodb", "mysql@8.0.33/innodb", "msql"]
            .map(|name| name.parse::<EngineName>().unwrap());
        let decision = Decision { alpha: 0.01, ..Decision::within(20) };
        let two = plan().between_two([&old, &new], &profile, decision, &catalogue, question()).unwrap();
        let ids: Vec<_> = two.systems.iter().map(|system| system.id.as_str()).collect();
        assert_eq!((ids, two.base), (vec!["mysql@5.6.24/innodb", "mysql@8.0.33/innodb"], 0));
        assert_eq!(two.steps.len(), plan().steps.len());
        assert_eq!(two.rounds, Rounds::UntilDecided(decision));
        assert_eq!(two.title, "mysql@8.0.33/innodb against mysql@5.6.24/innodb");
        assert_eq!(two.systems[1].settings["eq_range_index_dive_limit"], "10");
        let unknown =
            plan().between_two([&old, &misspelt], &profile, decision, &catalogue, question()).unwrap_err();
        assert!(unknown.to_string().contains("did you mean 'mysql'?"), "{unknown}");
        let nowhere = EngineName::Basedir("nowhere".into());
        let empty =
            plan().between_two([&old, &nowhere], &profile, decision, &catalogue, question()).unwrap_err();
        assert!(empty.to_string().contains("nowhere"), "{empty}");
    }
}

//! The same steps for other systems: what a search over versions runs.

use std::collections::BTreeMap;

use dyno_engine::{Catalogue, NameError, SystemName};
use dyno_host::Confinement;
use dyno_settings::Profile;

use super::error::{PlanError, Problem};
use super::system::{Source, System, translated};
use super::{Plan, Trials};

impl Plan {
    /// The plan with two systems of the catalogue in place of its own, the first the base, run until it is decided
    /// which is better or the budget of trials is spent. Both get the settings of a profile.
    ///
    /// # Errors
    /// The catalogue does not have one of them, or the profile cannot be had for it.
    pub fn between_two(
        mut self,
        names: [&str; 2],
        profile: &Profile,
        trials_max: u32,
        catalogue: &Catalogue,
    ) -> Result<Self, PlanError> {
        self.systems = names
            .into_iter()
            .map(|name| system(name, profile, catalogue).map_err(Problem::Other))
            .collect::<Result<_, _>>()?;
        self.base = 0;
        self.trials = Trials::UntilDecided { max: trials_max };
        self.claims.clear();
        // What the file says of systems holds no more, and the results file keeps the text.
        self.text = format!("# {} against {} in the steps of this plan:\n{}", names[0], names[1], self.text);
        Ok(self)
    }
}

fn system(name: &str, profile: &Profile, catalogue: &Catalogue) -> Result<System, String> {
    let parsed: SystemName = name.parse().map_err(|error: NameError| error.to_string())?;
    let entry = catalogue.find(&parsed).map_err(|error| error.to_string())?;
    let mut system = System {
        id: name.to_owned(),
        source: Source::Catalogue { name: parsed, entry: Box::new(entry.clone()) },
        profile: Some(profile.name.clone()),
        settings: BTreeMap::new(),
        confinement: Confinement::default(),
        dollars_per_hour: None,
        twin_of: None,
    };
    system.settings = translated(&system, profile)?;
    Ok(system)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::plan;

    #[test]
    fn the_steps_stay_and_the_systems_change() {
        let (profile, catalogue) = (Profile::find("like-56").unwrap(), Catalogue::builtin());
        let two = plan()
            .between_two(["mysql@5.6.24/innodb", "mysql@8.0.33/innodb"], &profile, 20, &catalogue)
            .unwrap();
        let ids: Vec<_> = two.systems.iter().map(|system| system.id.as_str()).collect();
        assert_eq!((ids, two.base), (vec!["mysql@5.6.24/innodb", "mysql@8.0.33/innodb"], 0));
        assert_eq!(two.steps.len(), plan().steps.len());
        assert_eq!(two.trials.max(), 20);
        assert_eq!(two.systems[1].settings["eq_range_index_dive_limit"], "10");
        let unknown = plan().between_two(["mysql", "msql"], &profile, 20, &catalogue).unwrap_err();
        assert!(unknown.to_string().contains("did you mean 'mysql'?"), "{unknown}");
    }
}

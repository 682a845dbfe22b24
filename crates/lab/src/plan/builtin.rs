//! The built-in plans (`plans/*.toml`), and how a plan is found by name or path.

use std::path::Path;

use dyno_engine::Catalogue;

use super::Plan;
use super::context::{Builds, is_file};
use super::syntax::error::{PlanError, Problem};

/// A built-in plan.
#[derive(Clone, Copy, Debug)]
pub struct BuiltinPlan {
    /// The name by which `dyno run` finds the plan.
    pub name: &'static str,
    text: &'static str,
}

/// All built-in plans, the quickest first.
pub fn builtin_plans() -> &'static [BuiltinPlan] {
    macro_rules! plans {
        ($($name:literal)*) => {
            &[$(BuiltinPlan { name: $name, text: include_str!(concat!("../../../../plans/", $name, ".toml")) }),*]
        };
    }
    plans! {
        "quickstart"
        "first-look"
        "dive-limit"
        "inmem-sqlite"
        "inmem-postgres"
        "trx-list"
        "inmem-versions"
        "io-bound-updates"
        "cloud-cost"
        "icp"
        "tpch"
        "ddl-and-backup"
        "ch-benchmark"
        "redo-and-defaults"
        "safe-settings"
        "inmem-engines"
        "insert-benchmark"
    }
}

impl BuiltinPlan {
    /// Reads the plan.
    ///
    /// # Panics
    /// Panics if the built-in plan is not valid. This crate's tests rule that out.
    pub fn plan(&self, catalogue: &Catalogue) -> Plan {
        Plan::parse(self.text, &format!("{}.toml", self.name), Path::new(""), catalogue)
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Plan {
    /// Finds a plan: a `.toml` file, or a built-in plan's name.
    ///
    /// # Errors
    /// There is no such plan, or its file is not a valid plan.
    pub fn find(name: &str, catalogue: &Catalogue) -> Result<Self, PlanError> {
        Self::find_with(name, catalogue, Builds::Asked)
    }

    /// Finds a plan as [`find`](Self::find) does, but only to show it. Dyno does not run the server programs in the
    /// folders that the plan names, so the versions of these servers stay unknown.
    ///
    /// # Errors
    /// The same as those of [`find`](Self::find).
    pub fn find_to_show(name: &str, catalogue: &Catalogue) -> Result<Self, PlanError> {
        Self::find_with(name, catalogue, Builds::Unasked)
    }

    fn find_with(name: &str, catalogue: &Catalogue, builds: Builds) -> Result<Self, PlanError> {
        if is_file(name, "toml") {
            return Self::read_with(Path::new(name), catalogue, builds);
        }
        let builtin = builtin_plans().iter().find(|builtin| builtin.name == name);
        builtin.map(|builtin| builtin.plan(catalogue)).ok_or_else(|| {
            Problem::unknown("built-in plan", name, builtin_plans().iter().map(|builtin| builtin.name)).into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_plan_is_found_by_the_name_it_gives_itself() {
        let catalogue = Catalogue::builtin();
        for builtin in builtin_plans() {
            assert_eq!(Plan::find(builtin.name, &catalogue).unwrap().name, builtin.name);
        }
    }

    #[test]
    fn a_plan_that_is_not_there_gets_a_near_miss_or_the_file_system_s_reason() {
        let error = |name| Plan::find(name, &Catalogue::builtin()).unwrap_err().to_string();
        assert_eq!(error("quikstart"), "there is no built-in plan `quikstart` — did you mean `quickstart`?");
        let unknown = error("no-such-plan");
        assert!(
            unknown.starts_with("there is no built-in plan `no-such-plan`; there are: quickstart, "),
            "{unknown}"
        );
        assert_eq!(
            error("./none.toml"),
            "cannot read the plan ./none.toml: No such file or directory (os error 2)"
        );
    }
}

//! Makes the plan of a planted cause.

use toml::Table;

use super::cause::Cause;

/// The id of the measured step.
pub(super) const TEST: &str = "test";
/// Default number of rounds in a run: the fewest that give an exact 95% interval.
const ROUNDS: u32 = 6;
/// The folder of the slower build, beside the plan.
pub(super) const BUILD: &str = "build";

/// Returns the text of a plan that compares the systems `old` and `new`.
pub(super) fn text(cause: &Cause, rounds: Option<u32>) -> String {
    let Cause { name, about, workload, clients, rows, options, both, innocent, culprit, .. } = cause;
    let of_new: Table = both.clone().into_iter().chain(innocent.clone()).chain(culprit.clone()).collect();
    let data = if *rows > 0 { format!("[data]\ntables = 1\nrows = {rows}\n") } else { String::new() };
    let step = |id: &str, command: &str, clients: u32, more: &str| {
        format!(
            "[[step]]\nid = \"{id}\"\ngroup = \"{id}\"\ncommand = \"{command}\"\nworkload = \"{workload}\"\n\
             operation = \"{}\"\nclients = [{clients}]\noptions = {}\n{more}\n",
            if command == "prepare" { "row" } else { "transaction" },
            inline(options)
        )
    };
    format!(
        "name = \"causes-{name}\"\ntitle = \"{about}\"\nbase = \"old\"\nrounds = {}\nclients = [1]\nseconds = 1\n\
         warmup_seconds = 0.3\nwarm = true\n{data}{}{}{}{}\n{}",
        rounds.unwrap_or(ROUNDS),
        system(cause, "old", both),
        system(cause, "new", &of_new),
        step("load", "prepare", 1, ""),
        cause.steps,
        step(TEST, "run", *clients, &cause.step_keys),
    )
}

fn system(cause: &Cause, id: &str, settings: &Table) -> String {
    let engine = match &cause.slow_build {
        Some(_) if id == "new" => {
            let storage_engine = cause.engine.split_once('/').map(|(_, name)| name);
            let key = storage_engine.map(|name| format!("storage_engine = \"{name}\"\n"));
            format!("basedir = \"{BUILD}\"\n{}", key.unwrap_or_default())
        }
        _ => format!("engine = \"{}\"\n", cause.engine),
    };
    let limits = cause.limits.get(id).map(|limits| format!("confinement = {}\n", inline(limits)));
    format!(
        "[[system]]\nid = \"{id}\"\n{engine}settings = {}\n{}",
        inline(settings),
        limits.unwrap_or_default()
    )
}

/// Writes a table of plain values on one line, in TOML.
fn inline(table: &Table) -> String {
    let pairs: Vec<String> = table.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    format!("{{ {} }}", pairs.join(", "))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use dyno_engine::Catalogue;
    use dyno_lab::Plan;

    use super::*;
    use crate::verdicts::causes::cause::scripts;

    #[test]
    fn every_cause_is_a_plan() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in scripts() {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        for cause in Cause::all().unwrap().iter().filter(|cause| cause.slow_build.is_none()) {
            let text = text(cause, Some(4));
            let plan = Plan::parse(&text, "plan.toml", folder.path(), &Catalogue::builtin());
            let plan = plan.unwrap_or_else(|error| panic!("{}: {error}\n{text}", cause.name));
            assert_eq!(
                (plan.systems.len(), plan.systems[plan.base].id.as_str()),
                (2, "old"),
                "{}",
                cause.name
            );
            let settings = [0, 1].map(|at: usize| &plan.systems[at].settings);
            assert!(
                cause.culprit.keys().all(|key| settings[0].get(key) != settings[1].get(key)),
                "{}",
                cause.name
            );
            assert!(cause.innocent.keys().all(|key| !settings[0].contains_key(key)), "{}", cause.name);
        }
    }

    #[test]
    fn a_slower_build_is_a_folder() {
        let causes = Cause::all().unwrap();
        let cause = causes.iter().find(|cause| cause.slow_build.is_some()).unwrap();
        let text = text(cause, None);
        assert!(
            text.contains("id = \"new\"\nbasedir = \"build\"\n") && text.contains("rounds = 6\n"),
            "{text}"
        );
        let error =
            Plan::parse(&text, "plan.toml", Path::new("/nowhere"), &Catalogue::builtin()).unwrap_err();
        assert!(error.to_string().contains("/nowhere/build"), "{error}");
    }
}

//! Records of a plan's systems and steps as they are before a run measures anything.

use dyno_store::{Origin, StepRecord, SystemRecord};
use serde_json::json;

use crate::plan::{Plan, Source, Step};

/// Returns the record of a system that has not started yet.
pub(crate) fn system(plan: &Plan, position: usize) -> SystemRecord {
    let system = &plan.systems[position];
    SystemRecord {
        id: system.id.clone(),
        name: system.source.name(),
        position: position as u32,
        is_base: position == plan.base,
        is_anchor: Some(position) == plan.anchor,
        requested_settings: json!(system.settings),
        origin: match system.source {
            Source::Catalogue { .. } => Origin::Catalogue,
            Source::Basedir { .. } => Origin::Basedir,
            Source::Image { .. } => Origin::Image,
            Source::Dsn { .. } => Origin::Dsn,
        },
        control_of: system.control_of.clone(),
        profile: system.profile.clone(),
        confinement: (!system.confinement.is_none()).then(|| json!(system.confinement)),
        dollars_per_hour: system.dollars_per_hour,
        price: system.price.clone(),
        configuration: system.configuration.clone(),
        ..SystemRecord::default()
    }
}

/// Returns the records of all steps. Each step is followed by its background loads.
pub(crate) fn steps(plan: &Plan) -> Vec<StepRecord> {
    let mut records = Vec::new();
    for step in &plan.steps {
        let own = self::step(plan, step);
        records.push(own.clone());
        records.extend(step.background.iter().map(|background| StepRecord {
            id: step.background_id(background),
            workload: background.script.name.clone(),
            operation: background.operation,
            options: json!(plan.options(&background.options)),
            rate: None,
            find: None,
            background_of: Some(step.id.clone()),
            repeats: None,
            joins: background.joins.clone(),
            ..own.clone()
        }));
    }
    for (position, record) in records.iter_mut().enumerate() {
        record.position = position as u32;
    }
    records
}

/// Returns the records of the steps of a run. If the rounds are spread over hosts, loads are recorded for all rounds,
/// because each host loads the tables again.
pub(crate) fn steps_of_run(plan: &Plan, is_spread: bool) -> Vec<StepRecord> {
    let mut records = steps(plan);
    for record in records.iter_mut().filter(|_| is_spread) {
        record.rounds = plan.rounds.max();
    }
    records
}

fn step(plan: &Plan, step: &Step) -> StepRecord {
    let timed = !step.is_load();
    StepRecord {
        id: step.id.clone(),
        group: step.group.clone(),
        workload: step.script.name.clone(),
        command: step.command().as_str().to_owned(),
        operation: step.operation,
        clients: step.clients.clone(),
        rounds: if timed { plan.rounds.max() } else { plan.load_rounds(plan.rounds.max()) },
        seconds: (timed && step.traffic.is_none()).then_some(step.seconds),
        warmup_seconds: if timed { step.warmup_seconds } else { 0.0 },
        options: json!(plan.options(&step.options)),
        repeats: step.repeats.clone(),
        find: step.search(),
        rate: step.rate.as_ref().map(|rate| json!(rate.points).to_string()),
        not_for: step.not_for.clone(),
        ..StepRecord::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::testing::{TEXT, parse};

    #[test]
    fn a_load_is_measured_in_the_first_round_unless_every_round_loads() {
        for (keys, rounds) in [
            ("rounds = 4", [1, 4]),
            ("rounds = 4\nload = \"every-round\"", [4, 4]),
            ("rounds = \"until-decided\"\nrounds_max = 20", [1, 20]),
            ("budget_seconds = 60", [1, 1000]),
            ("rounds = 10\nrounds_per_load = 4", [3, 10]),
        ] {
            let plan = parse(&TEXT.replacen("rounds = 4", keys, 1)).unwrap();
            let steps = super::steps(&plan);
            assert_eq!([steps[0].rounds, steps[1].rounds], rounds, "{keys}");
        }
    }

    #[test]
    fn background_loads_are_measured_as_often() {
        let background = "[[step.background]]\nid = \"readers\"\nworkload = \"oltp_point_select\"\noperation = \"query\"\nclients = 1";
        let steps = super::steps(&parse(&format!("{TEXT}{background}\n")).unwrap());
        let own: Vec<_> = steps.iter().map(|step| (step.id.as_str(), step.position, step.rounds)).collect();
        assert_eq!(own, [("load", 0, 1), ("read-write", 1, 4), ("read-write.readers", 2, 4)]);
    }
}

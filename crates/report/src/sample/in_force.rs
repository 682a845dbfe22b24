//! A run of two systems that should differ in a setting, but the setting is not in force.

use dyno_store::Run;

pub(crate) fn same_run() -> Run {
    let mut run = super::run(6);
    run.systems.truncate(2);
    run.trials.retain(|trial| run.systems.iter().any(|system| system.id == trial.record.system_id));
    for (system, instances) in run.systems.iter_mut().zip(["1", "8"]) {
        system.name = "mysql@9.7.4".to_owned();
        system.engine_version = Some("9.7.4".to_owned());
        system.requested_settings = serde_json::json!({ "innodb_buffer_pool_instances": instances });
        system.variables = [("version", "9.7.4"), ("innodb_buffer_pool_instances", "1")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec();
    }
    run
}

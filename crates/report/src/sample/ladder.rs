//! A sample run with a ladder.

use dyno_store::{CounterRecord, LadderRecord, Run};

use super::{run, set_rate};

/// A run whose three systems are a ladder. The second system writes a binary log, which costs a third of the
/// throughput. The third also syncs this log, which costs nothing. The trials have warm-ups and counters, and the
/// first system lacks one of the counters.
pub(crate) fn laddered_run() -> Run {
    let mut run = run(8);
    run.steps.retain(|step| ["load", "read-write"].contains(&step.id.as_str()));
    run.trials.retain(|trial| ["load", "read-write"].contains(&trial.record.step_id.as_str()));
    let ids = ["innodb.fast", "innodb.binlog", "innodb.sync"];
    let settings = [("OFF", "0"), ("ON", "0"), ("ON", "1")];
    for ((system, id), (binlog, sync)) in run.systems.iter_mut().zip(ids).zip(settings) {
        "mysql@5.6.24/innodb".clone_into(&mut system.name);
        id.clone_into(&mut system.id);
        system.requested_settings = serde_json::json!({ "log_bin": binlog, "sync_binlog": sync });
    }
    let id_of = |old: &str| ["mysql56", "maria", "myrocks"].iter().position(|known| *known == old);
    for instance in &mut run.instances {
        let at = id_of(&instance.system_id).expect("a system of the run");
        ids[at].clone_into(&mut instance.system_id);
    }
    for record in run.trials.iter_mut().map(|trial| &mut trial.record) {
        let at = id_of(&record.system_id).expect("a system of the run");
        ids[at].clone_into(&mut record.system_id);
        let is_load = record.step_id == "load";
        record.warmup_seconds = (!is_load).then_some([2.0, 5.0, 5.0][at]);
        record.disk_bytes_after = Some([120, 130, 131][at] << 20);
        let wobble = 1.0 + 0.002 * f64::from((record.round * 5 + at as u32) % 4);
        set_rate(record, (600.0 * [1.0, 0.66, 0.66][at] * wobble) as u64);
        let counter = |name: &str, is_gauge, last| CounterRecord {
            name: name.to_owned(),
            is_gauge,
            first: 0.0,
            last,
            values: if is_gauge && at == 2 { vec![600.0, 730.0, last] } else { Vec::new() },
        };
        record.counters = vec![counter("global_status.Innodb_buffer_pool_pages_dirty", true, 512.0)];
        if at > 0 {
            record.counters.push(counter("global_status.Binlog_cache_use", false, 60_000.0));
        }
    }
    run.record.ladders =
        vec![LadderRecord { id: "innodb".to_owned(), systems: ids.map(str::to_owned).to_vec() }];
    run.record.counters = ["Binlog_cache_use", "Innodb_buffer_pool_pages_dirty", "pg_stat_io.reads"]
        .map(str::to_owned)
        .to_vec();
    run
}

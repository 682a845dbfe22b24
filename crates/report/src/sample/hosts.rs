//! A run whose rounds are spread over three hosts.

use dyno_store::{AttemptRecord, HostRecord, Run};

/// Twelve rounds on three hosts in turn. The last host has another CPU, on which the candidate is slower. One
/// attempt was lost.
pub(crate) fn spread_run() -> Run {
    let mut run = super::run(12);
    run.record.spread_id = Some("5f".to_owned());
    for record in run.trials.iter_mut().map(|trial| &mut trial.record) {
        let is_odd = record.round % 3 == 2 && record.system_id == "maria" && record.step_id == "point-query";
        for slice in record.slices.iter_mut().filter(|_| is_odd) {
            slice.operations *= 0.8;
        }
    }
    run.attempts = (0..12).map(delivered).collect();
    run.attempts.push(AttemptRecord {
        round: 4,
        node: Some("bench2".to_owned()),
        host: None,
        ended_at_ms: 1_795_289_300_000,
        loss: Some("Slurm has put it back into its queue, the node is down*".to_owned()),
    });
    run
}

fn delivered(round: u32) -> AttemptRecord {
    let at = round % 3;
    let cpu = if at == 2 { "Intel Xeon Gold 6338" } else { "AMD EPYC 7763 64-Core Processor" };
    AttemptRecord {
        round,
        node: Some(format!("bench{}", at + 1)),
        host: Some(HostRecord {
            cpu_model: Some(cpu.to_owned()),
            cpus: Some(2),
            memory_bytes: Some(8_330_000_000),
            ..HostRecord::default()
        }),
        ended_at_ms: 1_795_289_200_000,
        loss: None,
    }
}

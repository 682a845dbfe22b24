//! What `dyno-judge` finds in a run, as `dyno-report` shows it.

use std::fmt::Write as _;

use dyno_judge::{ClaimState, JudgedClaim, Scaling, TrialChecks, judge_claims, scalings};
use dyno_report::{ClaimLine, ClaimVerdict, ScalingCurve};
use dyno_stats::Scalability;
use dyno_store::Run;

/// Points of a curve: enough that it looks like one.
const POINTS: u32 = 48;

/// The run's claims, judged.
pub(crate) fn claims(run: &Run, checks: &TrialChecks) -> Vec<ClaimLine> {
    judge_claims(run, checks).into_iter().map(claim).collect()
}

fn claim(JudgedClaim { record, result }: JudgedClaim<'_>) -> ClaimLine {
    let line = ClaimLine {
        id: record.id.clone(),
        says: record.says.clone(),
        expression: record.expression.clone(),
        verdict: ClaimVerdict::NotJudged,
        measured: None,
        published: record.published,
        source: record.source.clone(),
        reason: String::new(),
    };
    match result {
        Err(error) => ClaimLine { reason: error.to_string(), ..line },
        Ok(result) => ClaimLine {
            verdict: match result.state {
                ClaimState::Supported => ClaimVerdict::Supported,
                ClaimState::Refuted => ClaimVerdict::Refuted,
                ClaimState::Inconclusive => ClaimVerdict::Inconclusive,
            },
            measured: result.measured.map(|measured| match result.interval {
                Some(interval) => format!("{measured:.3} [{:.3}, {:.3}]", interval.low, interval.high),
                None => format!("{measured:.3}"),
            }),
            reason: result.reason.unwrap_or_default(),
            ..line
        },
    }
}

/// The claims as a table for a terminal; nothing if there is none.
pub(crate) fn claims_text(claims: &[ClaimLine]) -> String {
    let mut text = String::new();
    if !claims.is_empty() {
        text += "\nClaims: what the plan says will be found\n";
    }
    for claim in claims {
        let published = claim.published.map_or(String::new(), |figure| format!(", published {figure}"));
        let measured = claim.measured.as_deref().unwrap_or("nothing");
        let _ = writeln!(text, "  {:<12} {}", claim.verdict.as_str(), claim.says);
        let reason = if claim.reason.is_empty() { String::new() } else { format!(" ({})", claim.reason) };
        let _ = writeln!(text, "  {:<12} measured {measured}{published}{reason}", "");
    }
    text
}

/// Curves of throughput over concurrency, where there are levels enough to fit one.
pub(crate) fn curves(run: &Run) -> Vec<ScalingCurve> {
    let curve = |scaling: Scaling| {
        let fit = scaling.curve?;
        let points = (0..=POINTS).map(|at| {
            let clients = 1.0 + (fit.clients_max - 1.0) * f64::from(at) / f64::from(POINTS);
            (clients, rate(&fit, clients))
        });
        Some(ScalingCurve {
            step: scaling.step,
            system: scaling.system,
            points: points.collect(),
            says: says(&fit),
        })
    };
    scalings(run).into_iter().filter_map(curve).collect()
}

/// The Universal Scalability Law: γN / (1 + α(N − 1) + βN(N − 1)) (Gunther, 2007).
fn rate(fit: &Scalability, clients: f64) -> f64 {
    let (alpha, beta) = (fit.contention.value, fit.coherency.value);
    fit.single.value * clients / (1.0 + alpha * (clients - 1.0) + beta * clients * (clients - 1.0))
}

fn says(fit: &Scalability) -> String {
    match &fit.peak_clients {
        Some(peak) => format!("peak at about {:.0} clients", peak.value),
        None => format!("no peak up to {:.0} clients", fit.clients_max),
    }
}

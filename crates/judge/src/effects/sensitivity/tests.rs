use dyno_store::{Configuration, FactorLevel, Run};

use super::{Effect, Sensitivity};
use crate::compare::comparison::Finding;
use crate::sample::{add_step, around, run};
use crate::trial::check::TrialChecks;
use crate::{Rule, analyse};

const INSTANCES: [&str; 2] = ["1", "8"];
const DEPTHS: [&str; 3] = ["1k", "4k", "8k"];

/// A run of the sweep `s`. `rate` returns the rate of a configuration at a client count.
fn swept(clients: &[u32], chosen: &[(usize, usize)], rate: impl Fn(u32, usize, usize) -> f64) -> Run {
    let id = |instances: usize, depth: usize| {
        format!("s.instances-{}.depth-{}", INSTANCES[instances], DEPTHS[depth])
    };
    let ids: Vec<String> = chosen.iter().map(|(instances, depth)| id(*instances, *depth)).collect();
    let mut names: Vec<&str> = ids.iter().map(String::as_str).collect();
    names.push("other");
    let mut run = run(1, &names);
    for (system, (instances, depth)) in run.systems.iter_mut().zip(chosen) {
        let level =
            |factor: &str, level: &str| FactorLevel { factor: factor.to_owned(), level: level.to_owned() };
        let levels = vec![
            level("instances", INSTANCES[*instances]),
            level("depth", DEPTHS[*depth]),
            level("constant", "on"),
        ];
        system.configuration = Some(Configuration { sweep: "s".to_owned(), levels });
    }
    for (at, &clients) in clients.iter().enumerate() {
        let rates = |place: usize| {
            let (instances, depth) = chosen[place];
            around(rate(clients, instances, depth), 0.002, 8, (100 * at + place) as u64)
        };
        let mut of_systems: Vec<(&str, Vec<f64>)> =
            (0..chosen.len()).map(|place| (names[place], rates(place))).collect();
        of_systems.push(("other", vec![50.0; 8]));
        add_step(&mut run, "writes", "update", clients, &of_systems);
    }
    run
}

fn all() -> Vec<(usize, usize)> {
    (0..2).flat_map(|instances| (0..3).map(move |depth| (instances, depth))).collect()
}

fn found(run: &Run) -> Sensitivity {
    let analysis = analyse(run, &TrialChecks::new(), &Rule::default());
    let [found] = analysis.sensitivity.as_slice() else { panic!("one step, one sweep") };
    found.clone()
}

fn is_about(effect: &Effect, ratio: f64, finding: Finding) {
    assert!((effect.ratio / ratio - 1.0).abs() < 0.01, "{effect:?}");
    assert_eq!(effect.finding, finding, "{effect:?}");
}

#[test]
fn each_factor_has_its_effect_and_one_without_effect_is_told_as_that() {
    let found = found(&swept(&[8, 64], &all(), |_, instances, _| [1000.0, 1500.0][instances]));
    assert_eq!((found.sweep.as_str(), found.step.as_str()), ("s", "update"));
    assert_eq!((found.configurations, found.combinations), (6, 6));
    let [instances, depth] = found.factors.as_slice() else { panic!("a factor with one level is none") };
    assert_eq!((instances.factor.as_str(), instances.reference.as_str()), ("instances", "1"));
    let [level] = instances.levels.as_slice() else { panic!("two levels") };
    assert_eq!(level.effects.iter().map(|effect| effect.clients).collect::<Vec<_>>(), [8, 64]);
    for effect in &level.effects {
        is_about(effect, 1.5, Finding::Improved);
        assert_eq!(effect.rounds, 8);
    }
    for effect in depth.levels.iter().flat_map(|level| &level.effects) {
        is_about(effect, 1.0, Finding::Same);
    }
    let best: Vec<_> =
        instances.best.iter().map(|it| (it.clients, it.level.as_str(), it.is_decided)).collect();
    assert_eq!(best, [(8, "8", true), (64, "8", true)]);
    assert!(depth.best.iter().all(|best| !best.is_decided));
    assert!(found.factors.iter().all(|factor| factor.turns.is_none()));
    assert!(found.interactions.iter().all(|it| it.effect.finding == Finding::Same));
}

#[test]
fn a_best_level_that_depends_on_clients_is_found() {
    let rate = |clients, _, depth: usize| match clients {
        8 => [1000.0, 1300.0, 1200.0][depth],
        _ => [1000.0, 900.0, 700.0][depth],
    };
    let found = found(&swept(&[8, 64], &all(), rate));
    let depth = &found.factors[1];
    let best: Vec<_> = depth.best.iter().map(|it| (it.level.as_str(), it.is_decided)).collect();
    assert_eq!(best, [("4k", true), ("1k", true)]);
    let turn = depth.turns.as_ref().unwrap();
    assert_eq!((turn.level.as_str(), turn.clients), ("4k", 8));
    assert_eq!((turn.other_level.as_str(), turn.other_clients), ("1k", 64));
}

#[test]
fn factors_that_interact_are_found_with_the_size_of_it() {
    let rate = |_, instances: usize, depth: usize| match (instances, depth) {
        (1, 2) => 4000.0,
        _ => 1000.0,
    };
    let found = found(&swept(&[8], &all(), rate));
    let first = &found.interactions[0];
    assert_eq!(
        (first.factors.join(" "), first.levels.join(" ")),
        ("instances depth".to_owned(), "8 8k".to_owned())
    );
    is_about(&first.effect, 4.0, Finding::Improved);
    is_about(&found.interactions[1].effect, 1.0, Finding::Same);
}

#[test]
fn a_fraction_shows_effects_and_only_the_interactions_that_it_has() {
    let chosen = [(0, 0), (1, 1), (0, 2), (1, 0)];
    let rate = |_, instances: usize, depth: usize| [1000.0, 2000.0][instances] * [1.0, 0.5, 1.5][depth];
    let found = found(&swept(&[8], &chosen, rate));
    assert_eq!((found.configurations, found.combinations), (4, 6));
    is_about(&found.factors[0].levels[0].effects[0], 2.0, Finding::Improved);
    is_about(&found.factors[1].levels[0].effects[0], 0.5, Finding::Regressed);
    assert!(found.interactions.is_empty());
}

#[test]
fn effects_that_cannot_be_told_are_left_out() {
    let analysis =
        analyse(&swept(&[8], &[(0, 0), (1, 1)], |_, _, _| 1000.0), &TrialChecks::new(), &Rule::default());
    assert!(analysis.sensitivity.is_empty(), "both factors change together");
    let mut run = swept(&[8], &all(), |_, _, _| 1000.0);
    run.systems.iter_mut().for_each(|system| system.configuration = None);
    assert!(analyse(&run, &TrialChecks::new(), &Rule::default()).sensitivity.is_empty());
}

//! Plans' rounds, what happens between them, and how trials are measured.

use dyno_store::Correction;

use super::super::testing::{TEXT, parse, plan};
use super::super::{BetweenSteps, Decision, LeaveDecided, Measure, Plan, Rounds, SliceSeconds};
use super::{first_line_with, with, with_in_step};

#[test]
fn rounds_go_on_until_decided_or_as_long_as_a_budget_lasts() {
    let until_decided = |max| Rounds::UntilDecided(Decision::within(max));
    assert_eq!(with("rounds = \"until-decided\"").unwrap().rounds, until_decided(30));
    let plan = with("rounds = \"until-decided\"\nrounds_max = 50").unwrap();
    assert_eq!(plan.rounds, until_decided(50));
    assert_eq!(with("budget_seconds = 600").unwrap().rounds, Rounds::Budget { seconds: 600.0 });
    assert_eq!(with("budget_seconds = 0.5").unwrap().rounds, Rounds::Budget { seconds: 0.5 });
}

#[test]
fn a_plan_has_rounds_or_a_budget() {
    for (keys, complaint) in [
        ("", "plan.toml:1:1: the plan needs a key `rounds` or `budget_seconds`"),
        (
            "rounds = 4\nbudget_seconds = 600",
            "plan.toml:5:18: the plan has `budget_seconds` and `rounds`; leave one of them out",
        ),
        (
            "budget_seconds = 600\nrounds = 4",
            "plan.toml:5:10: the plan has `rounds` and `budget_seconds`; leave one of them out",
        ),
        (
            "rounds = 4\nrounds_max = 50",
            "plan.toml:5:14: `rounds_max` has no effect without `rounds = \"until-decided\"`; add that, or leave \
             this out",
        ),
        (
            "budget_seconds = 600\nrounds_max = 50",
            "plan.toml:5:14: `rounds_max` has no effect without `rounds = \"until-decided\"`; add that, or leave \
             this out",
        ),
        ("rounds = \"until-decided\"\nrounds_max = 5", "plan.toml:5:14: `rounds_max` must be from 6 to 1000"),
        ("budget_seconds = 0", "plan.toml:4:18: `budget_seconds` must be above 0"),
        ("budget_seconds = \"10 min\"", "plan.toml:4:18: `budget_seconds` must be a number, not a text"),
    ] {
        assert_eq!(first_line_with(keys), complaint);
    }
}

#[test]
fn keys_of_earlier_versions_name_those_of_today() {
    for (keys, complaint) in [
        (
            "trials = 4",
            "plan.toml:4:1: `trials` is now `rounds`: a round starts every system anew and takes it through all \
             steps; see docs/do/plans.md",
        ),
        (
            "rounds = 1\ntrials_max = 4",
            "plan.toml:5:1: `trials_max` is now `rounds_max`: with `rounds = \"until-decided\"`, the largest number \
             of rounds; see docs/do/plans.md",
        ),
        (
            "rounds = 1\n between_trials = \"keep\"",
            "plan.toml:5:2: `between_trials` is now `between_steps`: what is done to the systems between the steps \
             of a round; see docs/do/plans.md",
        ),
        (
            "rounds = 1\nnoise = true",
            "plan.toml:5:1: `noise` is now `aa_control`: the base is measured a second time, as a control: the \
             difference between the two is noise; see docs/do/plans.md",
        ),
    ] {
        assert_eq!(first_line_with(keys), complaint);
    }
    let first_of_several = first_line_with("noise = true\ntrials = 4");
    assert!(first_of_several.starts_with("plan.toml:4:1: `noise` is now"), "{first_of_several}");
}

#[test]
fn a_plan_says_how_its_verdicts_account_for_the_number_of_tests() {
    assert_eq!(plan().correction, Correction::MaxT);
    assert_eq!(with("rounds = 6\ncorrection = \"fdr\"").unwrap().correction, Correction::Fdr);
    assert_eq!(
        first_line_with("rounds = 6\ncorrection = \"fdx\""),
        "plan.toml:5:14: `correction` cannot be `fdx` — did you mean `fdr`?"
    );
}

#[test]
fn a_plan_says_how_many_rounds_use_one_load() {
    let plan = plan();
    assert_eq!((plan.rounds_per_load, plan.leave_decided), (None, LeaveDecided(true)));
    let loading = |plan: &Plan| (0..8).filter(|round| plan.loads_in(*round, 1)).collect::<Vec<u32>>();
    assert_eq!((loading(&plan), plan.load_rounds(8)), (vec![1], 1));
    let plan = with("rounds = 8\nrounds_per_load = 3\nleave_decided = false").unwrap();
    assert_eq!((plan.rounds_per_load, plan.leave_decided), (Some(3), LeaveDecided(false)));
    assert_eq!((loading(&plan), plan.load_rounds(8)), (vec![1, 4, 7], 3));
    let every = with("rounds = 8\nload = \"every-round\"").unwrap();
    assert_eq!((loading(&every).len(), every.load_rounds(8)), (8, 8));
    for (keys, complaint) in [
        (
            "rounds = 8\nrounds_per_load = 3\nload = \"every-round\"",
            "plan.toml:5:19: `load = \"every-round\"` loads in every round; leave that or `rounds_per_load` out",
        ),
        (
            "rounds = 8\nrounds_per_load = 3\nreuse_data = true",
            "plan.toml:5:19: `reuse_data` keeps the load of an earlier run; leave that or `rounds_per_load` out",
        ),
    ] {
        assert_eq!(first_line_with(keys), complaint);
    }
    assert!(first_line_with("rounds = 8\nrounds_per_load = 1").starts_with("plan.toml:5:19: "));
}

#[test]
fn a_plan_says_what_a_round_begins_with_and_what_comes_between_its_steps() {
    let plan = plan();
    assert_eq!((plan.load_every_round, plan.warm, plan.reuse_data), (false, false, false));
    assert_eq!(plan.between_steps, BetweenSteps::Keep);
    let plan = with(
        "rounds = 1\nload = \"every-round\"\nwarm = true\nbetween_steps = \"restore\"\nreuse_data = true",
    )
    .unwrap();
    assert_eq!((plan.load_every_round, plan.warm, plan.reuse_data), (true, true, true));
    assert_eq!(plan.between_steps, BetweenSteps::Restore);
    let restarts = with("rounds = 1\nload = \"once\"\nbetween_steps = \"restart\"").unwrap();
    assert_eq!((restarts.load_every_round, restarts.between_steps), (false, BetweenSteps::Restart));
    for (keys, complaint) in [
        (
            "rounds = 1\nbetween_steps = \"restor\"",
            "plan.toml:5:17: `between_steps` cannot be `restor` — did you mean `restore`?",
        ),
        (
            "rounds = 1\nload = \"every round\"",
            "plan.toml:5:8: `load` cannot be `every round` — did you mean `every-round`?",
        ),
        ("rounds = 1\nload = true", "plan.toml:5:8: `load` must be a text, not true or false"),
        ("rounds = 1\nwarm = 1", "plan.toml:5:8: `warm` must be true or false, not a whole number"),
    ] {
        assert_eq!(first_line_with(keys), complaint);
    }
}

#[test]
fn a_warm_up_may_wait_for_a_level() {
    let longest = |plan: &Plan| plan.steps.iter().map(|step| step.warmup_seconds_max).collect::<Vec<_>>();
    assert_eq!(longest(&plan()), [0.0, 0.0]);
    assert_eq!(longest(&with("rounds = 1\nwarmup_seconds_max = 20").unwrap()), [20.0, 20.0]);
    assert_eq!(longest(&with_in_step("warmup_seconds_max = 1.5").unwrap()), [0.0, 1.5]);
    assert_eq!(
        first_line_with("rounds = 1\nwarmup_seconds_max = -1"),
        "plan.toml:5:22: `warmup_seconds_max` must be 0 or more"
    );
    assert_eq!(
        first_line_with("rounds = 1\nsettle_seconds_max = 20"),
        "plan.toml:5:1: `settle_seconds_max` is now `warmup_seconds_max`: the longest warm-up while the rate \
         still rises or falls; see docs/do/plans.md"
    );
}

#[test]
fn servers_are_waited_for_until_they_are_at_rest_unless_a_plan_says_otherwise() {
    let seconds_max = |keys: &str| with(&format!("rounds = 1\n{keys}")).unwrap().rest_seconds_max;
    assert_eq!(
        ["", "rest_seconds_max = 0", "rest_seconds_max = 2.5"].map(seconds_max).to_vec(),
        [15.0, 0.0, 2.5]
    );
    assert_eq!(
        first_line_with("rounds = 1\nrest_seconds_max = -1"),
        "plan.toml:5:20: `rest_seconds_max` must be 0 or more"
    );
}

#[test]
fn trials_are_cut_into_slices_unless_a_step_takes_whole_ones() {
    let measure = |plan: &Plan| plan.steps[1].measure;
    let fixed = |seconds| Measure::Sliced(SliceSeconds::Fixed(seconds));
    assert_eq!(
        (plan().steps[0].measure, measure(&plan())),
        (Measure::Load, Measure::Sliced(SliceSeconds::Auto))
    );
    let of_plan = |value: &str| measure(&with(&format!("rounds = 1\nslice_seconds = {value}")).unwrap());
    assert_eq!(of_plan("\"auto\""), Measure::Sliced(SliceSeconds::Auto));
    assert_eq!(of_plan("\"whole\""), Measure::Whole);
    assert_eq!(of_plan("0.02"), fixed(0.02));
    assert_eq!(of_plan("60"), fixed(60.0));
    assert_eq!(measure(&with_in_step("slice_seconds = 0.5").unwrap()), fixed(0.5));
    for (wrong, complaint) in [
        ("0.01", "from 0.02 to 60"),
        ("60.5", "from 0.02 to 60"),
        ("\"half\"", "\"auto\", \"whole\" or a number"),
        ("true", "\"auto\", \"whole\" or a number, not true or false"),
    ] {
        assert_eq!(
            first_line_with(&format!("rounds = 1\nslice_seconds = {wrong}")),
            format!("plan.toml:5:17: `slice_seconds` must be {complaint}")
        );
    }
}

/// Hooks run before and after a trial, so they do not prevent slices.
#[test]
fn a_step_that_cannot_be_cut_says_why() {
    let background = "[[step.background]]\nid = \"readers\"\nworkload = \"oltp_point_select\"\noperation = \"query\"\n\
                  clients = 1";
    for (keys, why) in [
        ("rate = 10", "events of an open loop are due all the time"),
        (background, "its background loads run all the time"),
        ("command = \"prepare\"", "a load ends by itself"),
    ] {
        let mut whole = TEXT.replacen("rounds = 4", "rounds = 4\nslice_seconds = 0.1", 1);
        whole += keys;
        assert!(!matches!(parse(&whole).unwrap().steps[1].measure, Measure::Sliced(_)), "{why}");
        let error = with_in_step(&format!("slice_seconds = \"whole\"\n{keys}")).unwrap_err().to_string();
        assert_eq!(
            error.lines().next().unwrap(),
            format!("plan.toml:40:17: this step cannot be cut into slices: {why}; leave `slice_seconds` out")
        );
    }
    let hooked = with_in_step("slice_seconds = 0.1\nbefore = \"true\"\nafter = \"true\"").unwrap();
    assert_eq!(hooked.steps[1].measure, Measure::Sliced(SliceSeconds::Fixed(0.1)));
}

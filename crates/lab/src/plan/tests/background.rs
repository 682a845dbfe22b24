//! Background loads, and clients that join.

use dyno_store::JoinRecord;

use super::super::testing::{TEXT, parse};
use super::super::{Plan, PlanError};
use super::with_in_step;

#[test]
fn a_background_load_may_have_a_rate_unless_its_clients_join() {
    let with = |clients: &str| {
        let background =
            "[[step.background]]\nid = \"writers\"\nworkload = \"oltp_update_index\"\nrate = 2\n";
        parse(&format!("{TEXT}{background}clients = {clients}\n"))
    };
    let steady = with("1").unwrap();
    let rate = steady.steps.last().unwrap().background[0].rate.clone().unwrap();
    assert!((rate.points[0].per_second - 2.0).abs() < f64::EPSILON);
    let error = with("[{ at_seconds = 1, clients = 4 }]").unwrap_err().to_string();
    assert!(error.contains("clients that join run as fast as they can; leave `rate` out"), "{error}");
}

#[test]
fn a_step_may_have_background_loads() {
    let plan = with_in_step(
        "before = \"true\"\n[[step.background]]\nid = \"readers\"\nworkload = \"oltp_point_select\"\n\
         operation = \"query\"\nclients = 64",
    )
    .unwrap();
    let step = &plan.steps[1];
    assert_eq!(
        (step.background[0].clients, step.background_id(&step.background[0])),
        (64, "read-write.readers".to_owned())
    );
    assert_eq!(step.before.as_deref(), Some("true"));
}

fn with_joins(clients: &str) -> Result<Plan, PlanError> {
    with_in_step(&format!(
        "seconds = 30\n[[step.background]]\nid = \"writers\"\nworkload = \"oltp_update_index\"\n\
         operation = \"transaction\"\nclients = {clients}"
    ))
}

#[test]
fn clients_of_a_background_load_may_join() {
    let joins = "[{ at_seconds = 10, clients = 4 }, { at_seconds = 20.5, clients = 8 }]";
    let plan = with_joins(joins).unwrap();
    let background = &plan.steps[1].background[0];
    let join = |at_seconds, clients| JoinRecord { at_seconds, clients };
    assert_eq!((background.clients, &background.joins), (8, &vec![join(10.0, 4), join(20.5, 8)]));
    assert!(plan.steps[1].has_joins() && !plan.steps[0].has_joins());
}

#[test]
fn joins_that_cannot_be_are_shown_with_their_place() {
    let place = |column: usize| format!("plan.toml:45:{column}: ");
    for (clients, column, complaint) in [
        ("0", 11, "`clients` must be from 1 to 100000"),
        ("\"4\"", 11, "`clients` must be a number or a list"),
        ("[]", 11, "`clients` must be a list that is not empty"),
        ("[{ at_seconds = 1 }]", 12, "a [[step.background.clients]] needs a key `clients`"),
        ("[{ at_seconds = 0, clients = 4 }]", 27, "`at_seconds` must be above 0"),
        ("[{ at_seconds = 1, clients = 0 }]", 40, "`clients` must be from 1 to 100000"),
        ("[{ at_seconds = 30, clients = 4 }]", 12, "`at_seconds` must be below 30, at which the step ends"),
        (
            "[{ at_seconds = 9, clients = 4 }, { at_seconds = 8, clients = 5 }]",
            45,
            "`at_seconds` must be above 9, the time before it",
        ),
        (
            "[{ at_seconds = 9, clients = 4 }, { at_seconds = 10, clients = 4 }]",
            45,
            "`clients` must be above 4, the number before it: it counts all that run",
        ),
    ] {
        let error = with_joins(clients).unwrap_err().to_string();
        assert_eq!(error.lines().next().unwrap(), format!("{}{complaint}", place(column)), "{clients}");
    }
    let second = "[{ at_seconds = 1, clients = 4 }]\n[[step.background]]\nid = \"more\"\n\
                  workload = \"oltp_update_index\"\noperation = \"query\"\nclients = [{ at_seconds = 1, clients = 2 }]";
    let error = with_joins(second).unwrap_err().to_string();
    assert!(error.starts_with("plan.toml:50:11: clients of `writers` join too"), "{error}");
}

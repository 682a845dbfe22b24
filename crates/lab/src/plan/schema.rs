//! Makes the JSON Schema of plans from the types that read plans. Tests check that the reader and the schema agree.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::path::Path;

use dyno_engine::Catalogue;
use jsonschema::Validator;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::read::PlanTable;
use super::syntax::de;
use super::syntax::error::Problem;
use super::syntax::value::{Above0, At, Cpus, From0, Milliseconds, Scalar, Size, Whole};
use super::testing::TEXT;
use super::{Plan, builtin_plans};

/// Implements `JsonSchema` for a type with the given schema.
macro_rules! schema {
    ($name:ty, [$($parameters:tt)*], $schema:tt) => {
        impl<$($parameters)*> JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

schema!(Scalar, [], { "type": ["string", "number", "boolean"] });
schema!(Size, [], { "type": ["string", "integer"] });
schema!(Cpus, [], { "type": ["string", "integer"] });
schema!(Above0, [], { "type": "number", "exclusiveMinimum": 0 });
schema!(From0, [], { "type": "number", "minimum": 0 });
schema!(Milliseconds, [], { "type": "number", "minimum": 0, "maximum": Milliseconds::MAX });
schema!(Whole<MIN, MAX>, [const MIN: u64, const MAX: u64], { "type": "integer", "minimum": MIN, "maximum": MAX });

impl<T: JsonSchema> JsonSchema for At<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Provides the schema of an enum `T` whose variants are words. `T` is a type of another crate, so it cannot implement
/// `JsonSchema` itself.
#[derive(serde::Serialize)]
pub(super) struct Words<T>(PhantomData<T>);

impl<T: DeserializeOwned> JsonSchema for Words<T> {
    fn schema_name() -> Cow<'static, str> {
        "Words".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let read = de::read::<BTreeMap<String, T>>("key = 'none of them'", "");
        match read.map_err(|mistake| mistake.problem) {
            Err(Problem::UnknownValue { known, .. }) => json_schema!({ "type": "string", "enum": known }),
            _ => panic!("an enum of words"),
        }
    }
}

/// Requires exactly one source of a system, and says which other keys of a system need or exclude each other.
pub(super) fn one_source(system: &mut Schema) {
    let sources = ["engine", "basedir", "dsn"].map(|key| json!({ "required": [key] }));
    system.insert("oneOf".to_owned(), sources.into());
    let needs = json!({ "sweep_fraction": ["sweep"], "sweep_seed": ["sweep_fraction"], "family": ["engine"], "may_drop": ["dsn"], "keep_data": ["dsn"], "replication": ["replicas"], "replica_delay_seconds": ["replicas"], "pooler_settings": ["pooler"] });
    let sweep_or_ladder = json!({ "anyOf": [{ "required": ["sweep"] }, { "required": ["ladder"] }] });
    let no_ladder = json!({ "not": { "required": ["ladder"] } });
    let has_data = json!({ "anyOf": [{ "required": ["data"] }, { "required": ["upgrade_of"] }] });
    let starts = json!({ "not": { "required": ["dsn"] } });
    system.insert("dependentRequired".to_owned(), needs);
    let dependent = json!({
        "share_data": sweep_or_ladder, "sweep": no_ladder, "database": has_data, "data_sql": has_data, "data": starts,
        "upgrade_of": starts,
    });
    system.insert("dependentSchemas".to_owned(), dependent);
    let beside =
        json!([{ "required": ["price", "dollars_per_hour"] }, { "required": ["data", "upgrade_of"] }]);
    system.insert("not".to_owned(), json!({ "anyOf": beside }));
}

/// Says which keys of a step need or exclude each other. For example, a step whose trials are never cut into slices
/// has no `slice_seconds`.
pub(super) fn whole_trials(step: &mut Schema) {
    let load = json!({ "required": ["command"], "properties": { "command": { "const": "prepare" } } });
    let has = |key: &str| json!({ "required": [key] });
    let without = |others: &Value| json!({ "not": { "anyOf": others } });
    let whole = json!([has("rate"), has("find"), has("background"), has("events"), has("event"), load]);
    let beside_find =
        json!([has("rate"), has("spacing"), has("stacks"), has("seconds"), has("background"), load]);
    let of_find = json!({ "operation": { "const": "transaction" } });
    let find = json!({ "properties": of_find, "not": { "anyOf": beside_find } });
    let no_time = json!([has("rate"), has("find"), has("warmup_seconds"), has("warmup_seconds_max"), load]);
    let no_load = without(&json!([load]));
    let dependent = json!({
        "slice_seconds": without(&whole),
        "find": find,
        "events": without(&no_time),
        "event": without(&json!([has("find"), has("events"), load])),
        "event_seconds_max": no_load,
        "explain": no_load,
        "answers": no_load,
        "limit_io": load,
        "traffic": { "properties": { "workload": { "const": "traffic" } } },
        "pace": has("traffic"),
        "allow": has("traffic"),
    });
    step.insert("dependentSchemas".to_owned(), dependent);
}

/// Requires exactly one key for the action of an event.
pub(super) fn one_action(event: &mut Schema) {
    let actions = [
        "sql",
        "command",
        "kill",
        "restart",
        "stop_seconds",
        "connections",
        "idle_transaction_seconds",
        "disk_latency_ms",
    ];
    event.insert("oneOf".to_owned(), actions.map(|key| json!({ "required": [key] })).into());
    event.insert("dependentRequired".to_owned(), json!({ "disk_latency_ms": ["hold_seconds"] }));
    let held = json!({ "anyOf": [{ "required": ["connections"] }, { "required": ["disk_latency_ms"] }] });
    let awaited = json!({ "required": ["until"], "properties": { "until": { "const": "done" } } });
    event.insert("dependentSchemas".to_owned(), json!({ "hold_seconds": held, "after_seconds": awaited }));
}

/// Requires exactly one limit of a search.
pub(super) fn one_limit(find: &mut Schema) {
    let limits = ["p50_ms", "p95_ms", "p99_ms"].map(|key| json!({ "required": [key] }));
    find.insert("oneOf".to_owned(), limits.into());
}

/// Says which keys of a plan exclude each other, and which need each other.
pub(super) fn keys_together(plan: &mut Schema) {
    let one_of = json!([{ "required": ["rounds"] }, { "required": ["budget_seconds"] }]);
    let any_of = json!([{ "required": ["suite"] }, { "required": ["step"] }]);
    let until_decided =
        json!({ "required": ["rounds"], "properties": { "rounds": { "const": "until-decided" } } });
    plan.insert("title".to_owned(), "A plan of Dyno".into());
    plan.insert("oneOf".to_owned(), one_of);
    plan.insert("anyOf".to_owned(), any_of);
    let together = json!({ "properties": { "one_at_a_time": { "const": false } } });
    let whole = json!({ "properties": { "slice_seconds": { "const": "whole" } } });
    let slices = json!({ "anyOf": [together, whole] });
    plan.insert(
        "dependentSchemas".to_owned(),
        json!({ "rounds_max": until_decided, "slice_seconds": slices }),
    );
}

/// Adapts a schema to TOML and to plans: null is not allowed, texts and lists must not be empty, and each description
/// is on one line.
fn of_toml(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    schema.remove("format");
    let null = json!({ "type": "null" });
    if let Some([value, other]) = schema.get("anyOf").and_then(Value::as_array).map(Vec::as_slice)
        && *other == null
    {
        let Value::Object(value) = value.clone() else { return };
        schema.remove("anyOf");
        let description = schema.remove("description");
        schema.ensure_object().extend(value);
        schema.ensure_object().extend(description.map(|text| ("description".to_owned(), text)));
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [kind] = types.as_slice() {
            let kind = kind.clone();
            schema.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    let is = |kind: &str| schema.get("type").is_some_and(|it| it == kind);
    if is("array") {
        schema.insert("minItems".to_owned(), 1.into());
    } else if is("string") && schema.get("enum").is_none() && schema.get("const").is_none() {
        schema.insert("minLength".to_owned(), 1.into());
    }
}

/// Makes the content of `docs/reference/plan.schema.json` from the types.
fn generated() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .with_transform(RecursiveTransform(of_toml));
    settings.into_generator().into_root_schema_for::<PlanTable>().to_value()
}

/// After keys have changed, `DYNO_BLESS=1 cargo test -p dyno-lab schema` writes the file.
#[test]
fn the_schema_is_that_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/plan.schema.json");
    if std::env::var_os("DYNO_BLESS").is_some() {
        std::fs::write(&path, serde_json::to_string_pretty(&generated()).unwrap() + "\n").unwrap();
    }
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert!(written == generated(), "{} differs from the types; write it with DYNO_BLESS=1", path.display());
}

fn validator() -> Validator {
    jsonschema::validator_for(&generated()).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap()
}

#[test]
fn every_built_in_plan_and_the_one_in_the_documentation_fit() {
    let (validator, catalogue) = (validator(), Catalogue::builtin());
    let documented = include_str!("../../../../docs/do/plans.md");
    let documented = documented.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    Plan::parse(documented, "docs/do/plans.md", Path::new(""), &catalogue).unwrap();
    let plans = builtin_plans().iter().map(|builtin| builtin.plan(&catalogue).text);
    for text in plans.chain([documented.to_owned()]) {
        let errors: Vec<_> = validator.iter_errors(&json(&text)).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

#[test]
fn what_the_reader_refuses_the_schema_refuses_too() {
    let validator = validator();
    assert!(validator.is_valid(&json(TEXT)));
    for (old, new) in [
        ("rounds = 4", "rounds = 0"),
        ("rounds = 4", "rounds = \"four\""),
        ("rounds = 4", "ronds = 4"),
        ("rounds = 4", ""),
        ("rounds = 4", "trials = 4"),
        ("rounds = 4", "rounds = 4\ntrials_max = 9"),
        ("rounds = 4", "rounds = 4\nbetween_trials = \"keep\""),
        ("rounds = 4", "rounds = 4\nnoise = true"),
        ("rounds = 4", "rounds = 4\nbudget_seconds = 9"),
        ("rounds = 4", "rounds = 4\nrounds_max = 9"),
        ("rounds = 4", "budget_seconds = 9\nrounds_max = 9"),
        ("rounds = 4", "rounds = \"until-decided\"\nrounds_max = 5"),
        ("rounds = 4", "budget_seconds = 0"),
        ("rounds = 4", "rounds = 4\nload = \"always\""),
        ("rounds = 4", "rounds = 4\nwarm = 1"),
        ("rounds = 4", "rounds = 4\nbetween_steps = \"reload\""),
        ("rounds = 4", "rounds = 4\nwarmup_seconds_max = -1"),
        ("rounds = 4", "rounds = 4\nslice_seconds = 0.01"),
        ("rounds = 4", "rounds = 4\nslice_seconds = 61"),
        ("rounds = 4", "rounds = 4\nslice_seconds = 0.1\none_at_a_time = true"),
        ("rounds = 4", "rounds = 4\nslice_seconds = \"half\""),
        ("\"transaction\"", "\"transaction\"\nslice_seconds = \"whole\"\nrate = 9"),
        ("command = \"prepare\"", "command = \"prepare\"\nslice_seconds = 1"),
        ("\"transaction\"", "\"transaction\"\nfind = { within = 0.1 }"),
        ("\"transaction\"", "\"transaction\"\nfind = { p50_ms = 1, p99_ms = 5 }"),
        ("\"transaction\"", "\"transaction\"\nfind = { p99_ms = 9000 }"),
        ("\"transaction\"", "\"transaction\"\nfind = { p99_ms = 5, within = 2 }"),
        ("\"transaction\"", "\"transaction\"\nfind = { p99_ms = 5 }\nrate = 9"),
        ("\"transaction\"", "\"transaction\"\nfind = { p99_ms = 5 }\nseconds = 9"),
        ("\"transaction\"", "\"query\"\nfind = { p99_ms = 5 }"),
        ("clients = [1, 4]", "clients = [1, 1]"),
        ("clients = [1, 4]", "clients = []"),
        ("id = \"a\"", "id = \"\""),
        ("rounds = 4", "rounds = 4\nkeep_cores_awake = \"always\""),
        ("rounds = 4", "rounds = 4\nscale = { x = { seconds_max = 1 } }"),
        ("rounds = 4", "rounds = 4\nconfinement = { memory = true }"),
        ("seconds = 2", "seconds = 0"),
        ("rows = 100", "row = 100"),
        ("engine = \"sqlite\"", "engine = \"sqlite\"\nbasedir = \"/opt\""),
        ("engine = \"sqlite\"", "engine = \"oci:localhost/mine\"\nfamily = \"sqlite\""),
        ("engine = \"sqlite\"", "dsn = \"mysql://host\"\nfamily = \"mysql\""),
        ("engine = \"sqlite\"", "engine = \"sqlite\"\nmay_drop = true"),
        ("id = \"b\"", "id = \"b\"\nreplication = \"asynchronous\""),
        ("id = \"b\"", "id = \"b\"\nreplicas = 9"),
        ("id = \"b\"", "id = \"b\"\npooler_settings = { pool_mode = \"session\" }"),
        ("id = \"b\"", "id = \"b\"\nreplicas = 2\nreplication = \"semisynchronous\""),
        ("engine = \"sqlite\"", "dsn = \"mysql://host/b\"\nkeep_data = 1"),
        ("engine = \"sqlite\"", "engine = \"sqlite\"\nsweep = 1"),
        ("engine = \"sqlite\"", "engine = \"sqlite\"\nsweep = { cache_size = 1 }"),
        ("engine = \"sqlite\"", "engine = \"sqlite\"\nsweep = { x = { settings = [\"cache_size\"] } }"),
        ("engine = \"sqlite\"", "engine = \"sqlite\"\nsweep_fraction = 0.5"),
        ("engine = \"sqlite\"", "engine = \"sqlite\"\nsweep = { cache_size = [1, 2] }\nsweep_seed = 3"),
        ("engine = \"sqlite\"", "engine = \"sqlite\"\nprice = 1"),
        ("engine = \"sqlite\"", "engine = \"sqlite\"\nprice = { list = \"aws-2018-08\" }"),
        (
            "engine = \"sqlite\"",
            "engine = \"sqlite\"\ndollars_per_hour = 1\nprice = { list = \"aws-2018-08\", volume = \"io1\" }",
        ),
        ("\"transaction\"", "\"trx\""),
        (
            "options = { range_size = 10, skip_trx = true }\n",
            "[[step.event]]\nat_seconds = 1\nsql = \"SELECT 1\"\nafter_seconds = 1\n",
        ),
        ("\"transaction\"", "\"transaction\"\nnot_for = \"a\""),
        ("[[step]]\nid = \"read-write\"", "[[step]]\nbefor = \"true\"\nid = \"read-write\""),
    ] {
        let text = TEXT.replacen(old, new, 1);
        assert!(super::testing::parse(&text).is_err(), "{new}");
        assert!(!validator.is_valid(&json(&text)), "{new}");
    }
}

#[test]
fn what_the_reader_takes_the_schema_takes_too() {
    let validator = validator();
    for (old, new) in [
        ("rounds = 4", "budget_seconds = 0.5"),
        (
            "engine = \"sqlite\"\nsettings = { journal_mode = \"WAL\" }",
            "dsn = \"mysql://host/b\"\nkeep_data = true\nmay_drop = false",
        ),
        (
            "id = \"b\"",
            "id = \"b\"\nreplicas = 2\nreplication = \"semi-synchronous\"\nreplica_delay_seconds = 3",
        ),
        ("rounds = 4", "rounds = \"until-decided\""),
        ("rounds = 4", "rounds = \"until-decided\"\nrounds_max = 6"),
        ("rounds = 4", "rounds = 4\nload = \"every-round\"\nwarm = true\nbetween_steps = \"restart\""),
        ("rounds = 4", "rounds = 4\nload = \"once\"\nwarm = false\nbetween_steps = \"restore\""),
        ("rounds = 4", "rounds = \"until-decided\"\nleave_decided = false\nrounds_per_load = 2"),
        ("rounds = 4", "rounds = 4\naa_control = true\nrerun_disturbed = 2"),
        ("rounds = 4", "rounds = 4\nwarmup_seconds_max = 0\nslice_seconds = 60"),
        (
            "rounds = 4",
            "rounds = 4\nkeep_cores_awake = false\nscale = { x = 0.5, y = { factor = 2, clients = [1] } }",
        ),
        (
            "rounds = 4",
            "rounds = 4\nconfinement = { server_cpus = 0, client_cpus = \"1-2\", iops = 500, volume = 1073741824 }",
        ),
        ("rounds = 4", "rounds = 4\nwarmup_seconds_max = 1.5\nslice_seconds = \"auto\""),
        ("rounds = 4", "rounds = 4\nslice_seconds = \"whole\"\none_at_a_time = true"),
        ("rounds = 4", "rounds = 4\nslice_seconds = 0.1\none_at_a_time = false"),
        (
            "\"transaction\"",
            "\"transaction\"\nslice_seconds = 0.02\nbefore = \"true\"\nwarmup_seconds_max = 1",
        ),
        ("\"transaction\"", "\"transaction\"\nslice_seconds = \"whole\"\ncommand = \"run\""),
        ("\"transaction\"", "\"transaction\"\nfind = { p95_ms = 5, within = 0.1, seconds_max = 9 }"),
        (
            "\"transaction\"",
            "\"transaction\"\nnot_for = [\"a\"]\nseconds = 9\nbackground = [{ id = \"w\", workload = \"oltp_insert\", \
             operation = \"query\", clients = [{ at_seconds = 1, clients = 2 }] }]",
        ),
        (
            "engine = \"sqlite\"",
            "engine = \"sqlite\"\nsweep = { cache_size = [10, 20], x = { settings = [\"synchronous\"], levels = [1, \"OFF\"] } }\n\
             sweep_fraction = 0.5\nsweep_seed = 3",
        ),
        ("engine = \"sqlite\"", "engine = \"sqlite\"\nsweep = [{ cache_size = 10 }, { cache_size = 20 }]"),
        (
            "engine = \"sqlite\"",
            "engine = \"sqlite\"\nprice = { list = \"aws-2018-08\", instance = \"c5.9xlarge\" }",
        ),
        ("engine = \"sqlite\"", "engine = \"sqlite\"\ndollars_per_hour = 0.5"),
    ] {
        // Limits of the plan are valid only for systems with a server, so the system without a server has an empty
        // `confinement`.
        let own =
            if new.contains("confinement = {") { "id = \"c\"\nconfinement = {}\n" } else { "id = \"c\"\n" };
        let text = TEXT.replacen("id = \"c\"\n", own, 1).replacen(old, new, 1);
        assert!(super::testing::parse(&text).is_ok(), "{new}");
        assert!(validator.is_valid(&json(&text)), "{new}");
    }
}

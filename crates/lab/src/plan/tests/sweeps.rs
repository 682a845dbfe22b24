use super::super::System;
use super::super::testing::{TEXT, parse};

/// Returns the systems of the plan whose system `a` has the additional `keys`.
fn with(keys: &str) -> Result<Vec<System>, String> {
    let text = TEXT.replacen("id = \"a\"", &format!("id = \"a\"\n{keys}"), 1);
    parse(&text).map(|plan| plan.systems).map_err(|error| error.to_string())
}

fn ids(keys: &str) -> Vec<String> {
    let systems = with(keys).unwrap();
    systems.into_iter().map(|system| system.id).filter(|id| id.starts_with('a')).collect()
}

fn error(keys: &str) -> String {
    with(keys).unwrap_err().lines().next().unwrap().to_owned()
}

const TWO_FACTORS: &str = "sweep = { innodb_buffer_pool_instances = [1, 8], \
    flushing = { settings = [\"innodb_io_capacity\", \"innodb_lru_scan_depth\"], levels = [1000, 4000, 8000] } }";

#[test]
fn a_sweep_crosses_its_factors_in_the_order_of_the_file() {
    let expected = ["1", "8"].map(|instances| {
        ["1000", "4000", "8000"]
            .map(|depth| format!("a.innodb_buffer_pool_instances-{instances}.flushing-{depth}"))
    });
    assert_eq!(ids(TWO_FACTORS), expected.concat());
    let systems = with(TWO_FACTORS).unwrap();
    let last = &systems[5];
    for (setting, value) in [
        ("innodb_buffer_pool_instances", "8"),
        ("innodb_io_capacity", "8000"),
        ("innodb_lru_scan_depth", "8000"),
        ("innodb_buffer_pool_size", "64M"),
    ] {
        assert_eq!(last.settings[setting], value);
    }
    let configuration = last.configuration.as_ref().unwrap();
    let levels: Vec<_> =
        configuration.levels.iter().map(|it| (it.factor.as_str(), it.level.as_str())).collect();
    assert_eq!(configuration.sweep, "a");
    assert_eq!(levels, [("innodb_buffer_pool_instances", "8"), ("flushing", "8000")]);
    assert_eq!((systems.len(), &systems[6].configuration), (8, &None));
}

#[test]
fn the_base_is_the_first_configuration_of_its_sweep() {
    let text = TEXT.replacen("id = \"a\"", &format!("id = \"a\"\n{TWO_FACTORS}"), 1);
    let plan = parse(&text.replace("base = \"a\"", "base = \"b\"")).unwrap();
    assert_eq!(plan.base, 6);
    let plan = parse(&text).unwrap();
    assert_eq!(plan.base, 0);
    let plan =
        parse(&text.replace("base = \"a\"", "base = \"a.innodb_buffer_pool_instances-8.flushing-1000\""));
    assert_eq!(plan.unwrap().base, 3);
}

#[test]
fn a_fraction_is_a_choice_that_the_seed_repeats() {
    let ids = |keys: &str| ids(&format!("{TWO_FACTORS}\n{keys}"));
    let half = ids("sweep_fraction = 0.5");
    assert_eq!((half.len(), half[0].as_str()), (3, "a.innodb_buffer_pool_instances-1.flushing-1000"));
    assert_eq!(half, ids("sweep_fraction = 0.5\nsweep_seed = 1"));
    assert!((2..20).any(|seed| half != ids(&format!("sweep_fraction = 0.5\nsweep_seed = {seed}"))));
    assert_eq!(ids("sweep_fraction = 1").len(), 6);
}

#[test]
fn a_list_is_its_configurations() {
    let keys = "sweep = [{ innodb_io_capacity = 100, \"confinement.memory\" = \"256M\" }, \
                { innodb_io_capacity = 200, \"confinement.memory\" = \"512M\" }]";
    assert_eq!(ids(keys), ["a.memory-256M.innodb_io_capacity-100", "a.memory-512M.innodb_io_capacity-200"]);
    let systems = with(keys).unwrap();
    assert_eq!(systems[1].confinement.memory_bytes, Some(512 << 20));
    assert!(!systems[1].settings.contains_key("confinement.memory"));
}

#[test]
fn limits_are_swept_over_those_of_the_system() {
    let keys =
        "confinement = { memory = \"1G\", volume = \"2G\" }\nsweep = { \"confinement.iops\" = [300, 600] }";
    assert_eq!(ids(keys), ["a.iops-300", "a.iops-600"]);
    let confinement = &with(keys).unwrap()[1].confinement;
    assert_eq!((confinement.io.read_iops, confinement.io.write_iops), (Some(600), Some(600)));
    assert_eq!((confinement.memory_bytes, confinement.volume_bytes), (Some(1 << 30), Some(2 << 30)));
}

#[test]
fn data_is_shared_only_if_the_plan_says_so() {
    let shared = with(&format!("{TWO_FACTORS}\nshare_data = true")).unwrap();
    for system in &shared[..6] {
        assert_eq!(system.data_settings.as_ref(), Some(&shared[0].settings));
    }
    assert!(shared[6].data_settings.is_none());
    assert!(with(TWO_FACTORS).unwrap().iter().all(|system| system.data_settings.is_none()));
}

#[test]
fn mistakes_in_sweeps_have_their_place() {
    for (keys, expected) in [
        ("sweep = { x = [1, 1] }", "15:15: the sweep has the level `1` of `x` twice; leave one of them out"),
        (
            "sweep = { x = [1], y = { settings = [\"x\"], levels = [2] } }",
            "15:24: the sweep has the setting `x` twice; leave one of them out",
        ),
        (
            "sweep = { innodb_buffer_pool_size = [\"8M\"] }",
            "15:9: `innodb_buffer_pool_size` is in `settings` and in `sweep`; leave one of them out",
        ),
        (
            "sweep_fraction = 0.5",
            "15:18: `sweep_fraction` has no effect without `sweep`; add that, or leave this out",
        ),
        (
            "share_data = true",
            "15:14: `share_data` has no effect without `sweep` or `ladder`; add that, or leave this out",
        ),
        (
            "sweep = { x = [1, 2] }\nsweep_seed = 4",
            "16:14: `sweep_seed` has no effect without `sweep_fraction`; add that, or leave this out",
        ),
        (
            "sweep = { x = [1, 2] }\nsweep_fraction = 1.5",
            "16:18: `sweep_fraction` must be above 0, at most 1",
        ),
        (
            "sweep = [{ x = 1 }, { y = 2 }]",
            "15:21: a configuration of a sweep sets what the first one sets; add `x`",
        ),
        ("sweep = { \"confinement.iosp\" = [1] }", "15:9: unknown key `iosp` — did you mean `iops`?"),
        ("sweep = { x = 1 }", "15:15: `x` must be a list or a table, not a whole number"),
    ] {
        assert_eq!(error(keys), format!("plan.toml:{expected}"), "{keys}");
    }
    let many: Vec<String> = (0..40).map(|number| number.to_string()).collect();
    let many = format!("sweep = {{ x = [{0}], y = [{0}] }}", many.join(", "));
    assert_eq!(error(&many), "plan.toml:15:9: the sweep has more than 1000 configurations");
}

#[test]
fn a_setting_that_a_version_does_not_know_has_the_sweep_as_its_place() {
    let error = error("profile = \"like-56\"\nsweep = { innodb_parallel_read_threads = [1, 4] }");
    let expected =
        "plan.toml:16:9: the profile `like-56` cannot be used for `a.innodb_parallel_read_threads-4`: ";
    assert!(error.starts_with(expected) && error.contains("never 4"), "{error}");
}

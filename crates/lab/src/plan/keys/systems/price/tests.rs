use super::*;
use crate::plan::syntax::error::{PlanError, Problem};
use crate::plan::testing::{TEXT, parse};

const LIST: &str = r#"name = "mine"
currency = "USD"
date = "2026-11-01"
source = "our vendor"

[[instance]]
name = "small"
kind = "box"
cpus = 2
memory = "8G"
dollars_per_year = 100

[[instance]]
name = "large"
kind = "box"
cpus = 8
memory = "32G"
dollars_per_year = 400

[[volume]]
name = "slow"
size = "100G"
iops = 500
storage_dollars_per_year = 10.5
"#;

fn list(text: &str) -> Result<PriceList, String> {
    PriceList::parse(text, "mine.toml").map_err(|problem| problem.to_string())
}

fn choice(instance: Option<&str>, volume: Option<&str>) -> HardwareChoice {
    HardwareChoice { instance: instance.map(str::to_owned), volume: volume.map(str::to_owned) }
}

#[test]
fn the_built_in_list_has_the_table_of_the_post() {
    let list = PriceList::find("aws-2018-08").unwrap();
    for (volume, dollars) in [
        ("io1-5000", 5400.0),
        ("io1-10000", 9300.0),
        ("io1-15000", 13_200.0),
        ("io1-20000", 17_100.0),
        ("io1-30000", 24_900.0),
        ("gp2-10000", 4800.0),
    ] {
        let price = list.price(&choice(Some("c5.9xlarge"), Some(volume)), &HardwareNeed::default()).unwrap();
        assert!((price.dollars_per_year() - 7881.0 - dollars).abs() < 1e-9, "{volume}");
    }
}

#[test]
fn of_a_kind_the_cheapest_that_is_large_enough_is_taken() {
    let list = list(LIST).unwrap();
    let name = |cpus, memory_bytes| {
        let need = HardwareNeed { cpus: Some(cpus), memory_bytes, ..HardwareNeed::default() };
        list.price(&choice(Some("box"), None), &need).map(|price| price.instance.unwrap().name)
    };
    assert_eq!(name(1, None).unwrap(), "small");
    assert_eq!(name(3, None).unwrap(), "large");
    assert_eq!(name(1, Some(16 << 30)).unwrap(), "large");
    assert_eq!(
        name(16, None).unwrap_err().to_string(),
        "the price list mine has no instance of the kind `box` that is large enough: small has 2 CPUs, not 16; large has 8 \
         CPUs, not 16; add one to the list"
    );
    let cheapest = list.cheapest(&HardwareChoice::default(), &HardwareNeed::default()).unwrap();
    assert_eq!(
        (cheapest.instance.unwrap().name, cheapest.volume.unwrap().name),
        ("small".into(), "slow".into())
    );
}

#[test]
fn what_is_named_must_be_large_enough() {
    let list = list(LIST).unwrap();
    let need = HardwareNeed { iops: Some(1000), ..HardwareNeed::default() };
    let error = |volume| list.price(&choice(None, Some(volume)), &need).unwrap_err().to_string();
    assert_eq!(
        error("slow"),
        "the volume `slow` has 500 IOPS, not 1000; name a larger one, or lower the system's limits"
    );
    assert_eq!(error("slwo"), "there is no volume `slwo` — did you mean `slow`?");
}

#[test]
fn mistakes_in_a_list_have_their_place() {
    let euro = "prices are compared in USD, not in EUR; convert them all at the rate of the list's date, and say so in \
                `source`";
    for (old, new, expected) in [
        ("date = \"2026-11-01\"\n", "", "mine.toml:1:1: the price list needs a key `date`".to_owned()),
        (
            "\"2026-11-01\"",
            "\"November\"",
            "mine.toml:3:8: `date` must be a day such as 2018-08-01, not November".to_owned(),
        ),
        (
            "\"2026-11-01\"",
            "2026-11-01",
            "mine.toml:3:8: `date` must be a day in quotes, such as \"2018-08-01\", not a date or time"
                .to_owned(),
        ),
        ("\"2026-11-01\"", "\"2026-13-01\"", "mine.toml:3:8: `date` must be a day such as".to_owned()),
        ("\"USD\"", "\"EUR\"", format!("mine.toml:2:12: {euro}")),
        ("cpus = 8", "cpus = 8\ncurrency = \"EUR\"", format!("mine.toml:17:12: {euro}")),
        (
            "dollars_per_year = 400",
            "dollars_per_year = -1",
            "mine.toml:18:20: `dollars_per_year` must be 0 or more".to_owned(),
        ),
        ("cpus = 8", "cpu = 8", "mine.toml:16:1: unknown key `cpu` — did you mean `cpus`?".to_owned()),
        ("\"large\"", "\"small\"", "mine.toml:13:1: there are two instances `small`".to_owned()),
    ] {
        let error = list(&LIST.replacen(old, new, 1)).unwrap_err();
        assert!(error.starts_with(&expected), "{error}");
    }
    let head = &LIST[..LIST.find("[[").unwrap()];
    assert!(list(head).unwrap_err().contains("has no entry; add an [[instance]] or a [[volume]]"));
}

fn with(keys: &str) -> Result<Vec<Option<Price>>, PlanError> {
    let plan = parse(&TEXT.replacen("id = \"a\"", &format!("id = \"a\"\n{keys}"), 1))?;
    Ok(plan.systems.into_iter().map(|system| system.price).collect())
}

#[test]
fn each_configuration_of_a_sweep_has_the_price_of_its_limits() {
    let prices = with(
        "confinement = { volume = \"20G\" }\nsweep = { \"confinement.iops\" = [5000, 12000] }\n\
         price = { list = \"aws-2018-08\", instance = \"c5.9xlarge\", volume = \"io1\" }",
    )
    .unwrap();
    let dollars: Vec<_> = prices.iter().map(|price| price.as_ref().map(Price::dollars_per_year)).collect();
    assert_eq!(dollars, [Some(13_281.0), Some(21_081.0), None, None]);
}

#[test]
fn mistakes_in_a_price_have_their_place() {
    for (keys, expected) in [
        (
            "price = { list = \"aws-2018-8\", volume = \"io1\" }",
            "plan.toml:15:18: there is no price list `aws-2018-8` — did you mean `aws-2018-08`?",
        ),
        (
            "price = { list = \"aws-2018-08\", instance = \"c5.9xlage\" }",
            "plan.toml:15:9: there is no instance `c5.9xlage` — did you mean `c5.9xlarge`?",
        ),
        (
            "price = { list = \"aws-2018-08\" }",
            "plan.toml:15:18: `price` names an `instance`, a `volume` or both; add one of them",
        ),
        (
            "dollars_per_hour = 1\nprice = { list = \"aws-2018-08\", volume = \"io1\" }",
            "plan.toml:16:9: a system has a `price` or `dollars_per_hour`, not both",
        ),
        (
            "price = { list = \"none.toml\", volume = \"io1\" }",
            "plan.toml:15:18: cannot read the price list none.toml: No such file",
        ),
    ] {
        let error = with(keys).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
        assert!(!matches!(error.problem, Problem::OtherFile(_)));
    }
}

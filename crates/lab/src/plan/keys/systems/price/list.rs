//! Price lists, built in (`prices/*.toml`) or a file.

use std::fs;
use std::path::Path;

use dyno_store::{PricedInstance, PricedVolume};
use include_dir::{Dir, include_dir};
use serde::Deserialize;

use crate::plan::context::is_file;
use crate::plan::syntax::de;
use crate::plan::syntax::error::{PlanError, Problem};
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{At, From0, Size, Whole, each};

static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../prices");

/// The currency of all prices. Amounts in different currencies cannot be added or compared.
const CURRENCY: &str = "USD";

/// Prices of instances and volumes on a day, in US dollars.
#[derive(Clone, Debug, PartialEq)]
pub struct PriceList {
    pub name: String,
    /// The day of the prices, as `2018-08-01`.
    pub date: String,
    /// Where the prices are from.
    pub source: String,
    pub instances: Vec<PricedInstance>,
    pub volumes: Vec<PricedVolume>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListTable {
    name: String,
    currency: At<String>,
    date: At<Date>,
    source: String,
    #[serde(default)]
    instance: Vec<At<InstanceTable>>,
    #[serde(default)]
    volume: Vec<At<VolumeTable>>,
}

/// A day in the form `2018-08-01`. The name for serde appears in error messages.
#[derive(Deserialize)]
#[serde(rename = "a day in quotes, such as \"2018-08-01\"")]
struct Date(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InstanceTable {
    name: String,
    kind: Option<String>,
    cpus: Whole<1, 100_000>,
    memory: Size,
    currency: Option<At<String>>,
    dollars_per_year: From0,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VolumeTable {
    name: String,
    kind: Option<String>,
    size: Size,
    iops: Whole<1, 999_999_999_999>,
    currency: Option<At<String>>,
    storage_dollars_per_year: From0,
    #[serde(default)]
    iops_dollars_per_year: From0,
}

impl PriceList {
    /// Finds a price list: a `.toml` file, or a built-in list's name.
    ///
    /// # Errors
    /// There is no such list, or its file is not a valid list.
    pub fn find(name: &str) -> Result<Self, PlanError> {
        Self::find_in(name, Path::new("")).map_err(|problem| match problem {
            Problem::OtherFile(error) => *error,
            problem => problem.into(),
        })
    }

    /// Like [`find`](Self::find), but files are relative to a folder.
    pub(super) fn find_in(name: &str, folder: &Path) -> Result<Self, Problem> {
        if is_file(name, "toml") {
            let path = folder.join(name).display().to_string();
            let text = fs::read_to_string(&path)
                .map_err(|error| Problem::Other(format!("cannot read the price list {path}: {error}")))?;
            return Self::parse(&text, &path);
        }
        let file = format!("{name}.toml");
        let Some(text) = BUILT_IN.get_file(&file).and_then(|file| file.contents_utf8()) else {
            let known = BUILT_IN.files().filter_map(|file| file.path().file_stem()?.to_str());
            return Err(Problem::unknown("price list", name, known));
        };
        Self::parse(text, &file)
    }

    pub(super) fn parse(text: &str, file: &str) -> Result<Self, Problem> {
        de::read(text, "the price list")
            .and_then(ListTable::read)
            .map_err(|mistake| Problem::OtherFile(Box::new(mistake.in_file(file, text))))
    }
}

impl ListTable {
    fn read(self) -> Result<PriceList, Mistake> {
        self.currency.read(|currency| in_dollars(&currency))?;
        if self.instance.is_empty() && self.volume.is_empty() {
            return Err("the price list has no entry; add an [[instance]] or a [[volume]]".to_owned().into());
        }
        Ok(PriceList {
            name: self.name,
            date: self.date.read(day)?,
            source: self.source,
            instances: each(Vec::new(), self.instance, "instance", instance, |it| &it.name)?,
            volumes: each(Vec::new(), self.volume, "volume", volume, |it| &it.name)?,
        })
    }
}

/// Returns an error if the currency is not [`CURRENCY`]. A list, and each of its entries, may name a currency.
fn in_dollars(currency: &str) -> Result<(), String> {
    if currency == CURRENCY {
        return Ok(());
    }
    Err(format!(
        "prices are compared in {CURRENCY}, not in {currency}; convert them all at the rate of the list's date, and say so \
         in `source`"
    ))
}

fn day(Date(text): Date) -> Result<String, String> {
    let is_number = |text: &str, digits: usize, max: u32| {
        text.len() == digits && text.parse().is_ok_and(|number: u32| (1..=max).contains(&number))
    };
    match text.split('-').collect::<Vec<_>>()[..] {
        [year, month, day]
            if is_number(year, 4, 9999) && is_number(month, 2, 12) && is_number(day, 2, 31) =>
        {
            Ok(text)
        }
        _ => Err(format!("`date` must be a day such as 2018-08-01, not {text}")),
    }
}

fn instance(table: InstanceTable, _: &[PricedInstance]) -> Result<PricedInstance, Mistake> {
    table.currency.map(|currency| currency.read(|currency| in_dollars(&currency))).transpose()?;
    Ok(PricedInstance {
        name: table.name,
        kind: table.kind,
        cpus: table.cpus.0 as u32,
        memory_bytes: table.memory.0,
        dollars_per_year: table.dollars_per_year.0,
    })
}

fn volume(table: VolumeTable, _: &[PricedVolume]) -> Result<PricedVolume, Mistake> {
    table.currency.map(|currency| currency.read(|currency| in_dollars(&currency))).transpose()?;
    Ok(PricedVolume {
        name: table.name,
        kind: table.kind,
        size_bytes: table.size.0,
        iops: table.iops.0,
        storage_dollars_per_year: table.storage_dollars_per_year.0,
        iops_dollars_per_year: table.iops_dollars_per_year.0,
    })
}

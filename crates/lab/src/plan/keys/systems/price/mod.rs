//! Prices of hardware: lists of them, and a system's key `price`.

mod choice;
mod list;
#[cfg(test)]
mod tests;

use dyno_host::Confinement;
use dyno_store::Price;
use serde::Deserialize;

use crate::plan::context::{ParseContext, is_file};
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::At;
pub use choice::{HardwareChoice, HardwareNeed};
pub use list::PriceList;

/// What a system's hardware costs by a price list.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("anyOf" = [{ "required": ["instance"] }, { "required": ["volume"] }])))]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct PriceTable {
    /// A built-in price list, or a .toml file; docs/do/cost.md.
    list: At<String>,
    /// An instance of the list, or a kind of instances. Of a kind, the cheapest that satisfies the system's
    /// limits is taken.
    instance: Option<At<String>>,
    /// A volume of the list, or a kind of volumes, in the same way.
    volume: Option<At<String>>,
}

/// The system's key `price`, with the price list that it names.
pub(in crate::plan) struct PriceKey {
    list: PriceList,
    choice: HardwareChoice,
}

impl PriceTable {
    /// Finds the price list. A file is relative to the plan's folder.
    pub(in crate::plan) fn read(self, context: &ParseContext<'_>) -> Result<PriceKey, Mistake> {
        if self.instance.is_none() && self.volume.is_none() {
            let problem = "`price` names an `instance`, a `volume` or both; add one of them";
            return Err(self.list.wrong(problem.to_owned()));
        }
        let list = self.list.read(|name| {
            if is_file(&name, "toml") {
                context.file(&name);
            }
            PriceList::find_in(&name, context.folder)
        })?;
        let name = |name: Option<At<String>>| name.map(At::into_inner);
        let choice = HardwareChoice { instance: name(self.instance), volume: name(self.volume) };
        Ok(PriceKey { list, choice })
    }
}

impl PriceKey {
    /// Returns the price of hardware for a system with these limits.
    pub(in crate::plan) fn price(&self, confinement: &Confinement) -> Result<Price, Mistake> {
        Ok(self.list.price(&self.choice, &HardwareNeed::of(confinement))?)
    }
}

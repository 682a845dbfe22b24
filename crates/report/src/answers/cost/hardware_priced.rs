//! The hardware of a price, and how it differs from the hardware that was measured.

use dyno_judge::{Candidate, CostAnswer, PriceDifference};
use dyno_store::Price;

use super::sentences::name;
use crate::wording::number::{self, counted};

/// The instance and the volume of a price: `c7i.large, gp3-100G-3000`; a dash if the plan states the price itself.
pub(super) fn priced_as(price: Option<&Price>) -> String {
    let parts = price.into_iter().flat_map(|price| {
        let instance = price.instance.as_ref().map(|it| it.name.as_str());
        [instance, price.volume.as_ref().map(|it| it.name.as_str())]
    });
    let parts: Vec<&str> = parts.flatten().collect();
    if parts.is_empty() { "–".to_owned() } else { parts.join(", ") }
}

/// Remarks on prices. The first remarks name the price lists. The next remarks name the candidates whose price is for
/// other hardware than was measured, with one sentence for each kind of difference. The last remark warns that the
/// processors of instances may differ in speed, which no list states.
pub(super) fn remarks(answer: &CostAnswer) -> Vec<String> {
    let mut remarks: Vec<String> = Vec::new();
    for price in answer.candidates.iter().filter_map(|it| it.price.as_ref()) {
        let source = format!("Prices of {}, {}: {}.", price.list, price.date, price.source);
        if !remarks.contains(&source) {
            remarks.push(source);
        }
    }
    let is_by_list = !remarks.is_empty();
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for it in answer.candidates.iter().filter(|it| !it.differences.is_empty()) {
        let says = difference(it);
        match groups.iter_mut().find(|(known, _)| *known == says) {
            Some((_, names)) => names.push(name(it)),
            None => groups.push((says, vec![name(it)])),
        }
    }
    let of_other = |(says, names): (String, Vec<String>)| {
        format!("Prices of other hardware than was measured ({}): {says}.", names.join("; "))
    };
    remarks.extend(groups.into_iter().map(of_other));
    if let Some(processor) = answer.processor.as_ref().filter(|_| is_by_list) {
        remarks
            .push(format!("Measured on {processor}; the processors of instances may be faster or slower."));
    }
    remarks
}

/// `36 CPUs (c5.9xlarge) against 2, 72.0 GiB of memory against 8.00 GiB`: the priced hardware and the measured
/// hardware.
fn difference(it: &Candidate) -> String {
    let price = it.price.as_ref();
    let instance = price.and_then(|price| price.instance.as_ref()).map_or("", |it| it.name.as_str());
    let volume = price.and_then(|price| price.volume.as_ref()).map_or("", |it| it.name.as_str());
    let says = it.differences.iter().map(|difference| match *difference {
        PriceDifference::Cpus { measured, priced } => {
            format!("{} ({instance}) against {measured}", counted(priced, "CPU"))
        }
        PriceDifference::MemoryBytes { measured, priced } => {
            format!("{} of memory against {}", number::bytes(priced), number::bytes(measured))
        }
        PriceDifference::Iops { measured: Some(measured), priced } => {
            format!("{priced} IOPS ({volume}) against {measured}")
        }
        PriceDifference::Iops { measured: None, priced } => {
            format!("{priced} IOPS ({volume}) against a disk without a limit")
        }
        PriceDifference::NoVolume => "no volume".to_owned(),
        PriceDifference::NoInstance => "no instance".to_owned(),
    });
    says.collect::<Vec<_>>().join(", ")
}

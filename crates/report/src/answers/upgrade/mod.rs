//! Whether an upgrade is safe, as a document.

mod sections;
mod sentences;
#[cfg(test)]
mod tests;

use dyno_judge::Safety;

use crate::document::{Document, Fact};
use crate::format::Report;
use crate::model::upgrade::{UpgradeReport, UpgradedSystem};

impl Report for UpgradeReport {
    fn documents(&self) -> Vec<Document> {
        vec![Document {
            title: format!("The upgrade from {} to {} is {}", self.from.id, self.to.id, word(self.safety)),
            facts: self.facts(),
            paragraphs: self.answer(),
            sections: self.sections(),
            ..Document::default()
        }]
    }
}

/// The answer as one word.
fn word(safety: Safety) -> &'static str {
    match safety {
        Safety::Safe => "safe for this traffic",
        Safety::NotSafe => "not safe",
        Safety::NotDecided => "not decided",
    }
}

impl UpgradeReport {
    fn facts(&self) -> Vec<Fact> {
        let system = |label: &str, system: &UpgradedSystem| {
            let version =
                system.version.as_ref().map(|version| format!(" (version {version})")).unwrap_or_default();
            let data = system.data.as_ref().map(|data| format!("; the data: {data}")).unwrap_or_default();
            Fact::new(label, format!("{}{version}{data}", system.id))
        };
        let run = self.run.map(|run| Fact::new("run", run.to_string()));
        [system("from", &self.from), system("to", &self.to), Fact::new("traffic", &self.traffic)]
            .into_iter()
            .chain(run)
            .collect()
    }
}

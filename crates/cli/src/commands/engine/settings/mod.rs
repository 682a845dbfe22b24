//! `dyno engine settings`: shows the settings of a server, or the differences between two.

mod read;
mod text;

use clap::Args;
use dyno_engine::{Cache, EngineName};
use dyno_report::json_text;
use dyno_settings::{Profile, drift};
use serde_json::json;

use self::read::{Read, read};
use super::system::install;
use crate::options::TextOrJson;
use crate::output;

/// Show the settings of one system, or the differences between two, including defaults
#[derive(Debug, Args)]
#[command(
    after_help = "Both systems are fetched if necessary, started, asked for their settings, and stopped. With one system and two \
profiles, the system is compared with itself.

Examples:
  dyno engine settings mysql@5.6.24 mysql@8.0.33
  dyno engine settings mysql@5.6.24 mariadb@10.11 --profile like-56
  dyno engine settings ./build-main ./build-pr
  dyno engine settings postgres --profile safe --profile fast"
)]
pub(super) struct Settings {
    /// ENGINE[@VERSION][/STORAGE-ENGINE], such as mysql@5.6.24; a folder with a build, such as ./build; or an image,
    /// such as oci:docker.io/library/mysql:8.4
    #[arg(value_name = "A")]
    a: EngineName,
    /// A second system, to compare with
    #[arg(value_name = "B")]
    b: Option<EngineName>,
    /// stock, like-56, safe, fast or a .toml file; if given twice, the second is for B
    #[arg(long = "profile", value_name = "PROFILE", action = clap::ArgAction::Append)]
    profiles: Vec<String>,
    /// Show unimportant variables too
    #[arg(long)]
    all: bool,
    /// Output format; JSON has every variable, important or not
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
}

impl Settings {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        let (first, second) = self.profiles()?;
        let other = self.b.clone().or_else(|| second.is_some().then(|| self.a.clone()));
        let a = ask(&self.a, first.as_ref())?;
        let Some(other) = other else { return self.print_one(&a) };
        let b = ask(&other, second.as_ref().or(first.as_ref()))?;
        self.print_two(&a, &b)
    }

    /// The profile of A, and the profile of B if `--profile` was given twice.
    fn profiles(&self) -> anyhow::Result<(Option<Profile>, Option<Profile>)> {
        let find = |name: &String| Profile::find(name);
        match self.profiles.as_slice() {
            [] => Ok((None, None)),
            [both] => Ok((Some(find(both)?), None)),
            [a, b] => Ok((Some(find(a)?), Some(find(b)?))),
            _ => anyhow::bail!("--profile may be given twice at most: A's and B's"),
        }
    }

    fn print_one(&self, system: &Read) -> anyhow::Result<()> {
        output::print(&match self.format {
            TextOrJson::Text => text::one(system, self.all),
            TextOrJson::Json => json_text(system),
        })
    }

    fn print_two(&self, a: &Read, b: &Read) -> anyhow::Result<()> {
        let differences = drift(&a.variables, &b.variables);
        output::print(&match self.format {
            TextOrJson::Text => text::two(a, b, &differences, self.all),
            TextOrJson::Json => {
                json_text(&json!({ "a": a.origin(), "b": b.origin(), "differences": differences }))
            }
        })
    }
}

/// Starts a system with a profile's settings, and reads its variables.
fn ask(name: &EngineName, profile: Option<&Profile>) -> anyhow::Result<Read> {
    let cache = Cache::default_location();
    let installation = install(name, &cache)?;
    read(&cache, &installation, name, profile)
}

//! Suites: lists of steps that plans share, built in (`plans/suites/*.toml`) or a file.

use std::fs;
use std::path::Path;

use include_dir::{Dir, include_dir};
use serde::Deserialize;

use crate::plan::context::{ParseContext, is_file};
use crate::plan::keys::steps::step::{Pace, Step, StepTable};
use crate::plan::syntax::de;
use crate::plan::syntax::error::Problem;
use crate::plan::syntax::value::{At, each};

static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../plans/suites");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteTable {
    step: Vec<At<StepTable>>,
}

/// Reads the steps of a suite. `name` is a `.toml` file, relative to the plan, or the name of a built-in suite.
pub(in crate::plan) fn steps(
    name: &str,
    pace: &Pace<'_>,
    context: &ParseContext<'_>,
) -> Result<Vec<Step>, Problem> {
    if is_file(name, "toml") {
        let path = context.file(name);
        let file = path.display().to_string();
        let text = fs::read_to_string(&path)
            .map_err(|error| Problem::Unreadable { path: file.clone(), reason: error.to_string() })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        return parse(&text, &file, pace, &ParseContext { folder, ..*context });
    }
    let file = format!("{name}.toml");
    let Some(text) = BUILT_IN.get_file(&file).and_then(|file| file.contents_utf8()) else {
        let known = BUILT_IN.files().filter_map(|file| file.path().file_stem()?.to_str());
        return Err(Problem::unknown("built-in suite", name, known));
    };
    parse(text, &file, pace, &ParseContext { folder: Path::new(""), ..*context })
}

fn parse(text: &str, file: &str, pace: &Pace<'_>, context: &ParseContext<'_>) -> Result<Vec<Step>, Problem> {
    de::read(text, "the suite")
        .and_then(|SuiteTable { step: list }| {
            let read = |table: StepTable, earlier: &[_]| table.read(earlier, pace, context);
            each(Vec::new(), list, "step", read, |step| &step.id)
        })
        .map_err(|mistake| Problem::OtherFile(Box::new(mistake.in_file(file, text))))
}

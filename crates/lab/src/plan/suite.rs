//! Suites: lists of steps that plans share, built in (`plans/suites/*.toml`) or a file.

use std::fs;
use std::path::Path;

use include_dir::{Dir, include_dir};
use toml::de::DeTable;

use super::context::{ParseContext, each, syntax, top};
use super::error::{PlanError, Problem};
use super::step::{Pace, Step, step};
use super::table::{Mistake, Value};

static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../plans/suites");

/// A suite's steps, or an error in the suite's file.
pub(super) type Steps = Result<Vec<Step>, Box<PlanError>>;

/// Reads the suite that a plan names: a `.toml` file, relative to the plan, or a built-in suite.
pub(super) fn steps(value: Value<'_>, pace: &Pace, context: &ParseContext<'_>) -> Result<Steps, Mistake> {
    let span = value.span.clone();
    let name = value.text()?;
    if name.contains('/') || Path::new(&name).extension().is_some_and(|extension| extension == "toml") {
        let path = context.folder.join(&name);
        let file = path.display().to_string();
        let text = fs::read_to_string(&path)
            .map_err(|error| (span, Problem::Unreadable { path: file.clone(), reason: error.to_string() }))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        return Ok(parse(&text, &file, pace, &ParseContext { folder, ..*context }));
    }
    let file = format!("{name}.toml");
    match BUILT_IN.get_file(&file).and_then(|file| file.contents_utf8()) {
        Some(text) => Ok(parse(text, &file, pace, &ParseContext { folder: Path::new(""), ..*context })),
        None => Err((span, Problem::UnknownName { kind: "built-in suite", name, known: builtin_suites() })),
    }
}

fn builtin_suites() -> Vec<String> {
    BUILT_IN
        .files()
        .filter_map(|file| Some(file.path().file_stem()?.to_string_lossy().into_owned()))
        .collect()
}

fn parse(text: &str, file: &str, pace: &Pace, context: &ParseContext<'_>) -> Steps {
    let read = || {
        let table = DeTable::parse(text).map_err(|error| syntax(&error))?;
        let mut table = top("the suite", table, &["step"])?;
        each(table.required("step")?, "step", |value| step(value, pace, context), |step| &step.id)
    };
    read().map_err(|(span, problem)| Box::new(PlanError::at(file, text, &span, problem)))
}

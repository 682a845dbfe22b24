//! Reads the user's own entries, and checks them like built-in entries.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::catalogue::entry::Entry;
use crate::catalogue::error::{CatalogueError, EntryError};
use crate::catalogue::name::SystemName;

/// Name of the file that records the checksums of fetched archives. It is in the folder of entries, but contains no
/// entry.
const LOCK: &str = "lock.toml";

/// All entries of a folder, sorted by file name.
pub(super) fn read_folder(folder: &Path) -> Result<Vec<Entry>, CatalogueError> {
    files(folder)?.iter().map(|file| parse(&read(file)?, file)).collect()
}

/// The `*.toml` files of a folder, sorted by name.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, CatalogueError> {
    let items = fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    let mut files: Vec<PathBuf> = items.flatten().map(|item| item.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.retain(|file| file.file_name().is_some_and(|name| name != LOCK));
    files.sort();
    Ok(files)
}

pub(super) fn read(file: &Path) -> Result<String, CatalogueError> {
    fs::read_to_string(file).map_err(|error| unreadable(file, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> CatalogueError {
    CatalogueError::Unreadable { path: path.to_owned(), reason: error.to_string() }
}

/// Reads one entry. Relative paths in the entry start at the folder of its file.
pub(crate) fn parse(text: &str, file: &Path) -> Result<Entry, CatalogueError> {
    let mut entry: Entry = toml::from_str(text)
        .map_err(|error| at(file, text, error.span().unwrap_or_default(), error.message()))?;
    let fault = |key: &str, message: String| Err(at(file, text, line_of(text, key), &message));
    let name = entry.to_string();
    match name.parse::<SystemName>() {
        Err(error) => return fault("engine", error.to_string()),
        Ok(parsed) if parsed.to_string() != name || parsed.storage_engine.is_some() => {
            return fault(
                "engine",
                format!("'{name}' names no system; write it in small letters, without '/'"),
            );
        }
        Ok(_) => {}
    }
    if entry.sources.is_empty() == entry.family.has_server() {
        let needs = if entry.family.has_server() { "needs a [[source]]" } else { "has no [[source]]" };
        return fault("family", format!("an engine of this family {needs}"));
    }
    if let Some(unknown) =
        entry.storage_engine_options.keys().find(|name| !entry.storage_engines.contains(name))
    {
        let message = format!("'{unknown}' has options and is not among the storage_engines");
        return fault(&format!("[storage_engine_options.{unknown}]"), message);
    }
    let is_variable = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
    if let Some(wrong) = entry.environment.keys().find(|name| !is_variable(name)) {
        return fault("[environment]", format!("'{wrong}' is not the name of an environment variable"));
    }
    let folder = file.parent().unwrap_or(Path::new(""));
    entry.sources.iter_mut().for_each(|source| source.start_at(folder));
    Ok(entry)
}

/// Returns the position of a key in the text, for errors that the parser does not find.
fn line_of(text: &str, key: &str) -> Range<usize> {
    let lines = text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    });
    let mut starts = lines.filter(|(_, line)| line.trim_start().starts_with(key)).map(|(start, _)| start);
    let start = starts.next().unwrap_or(0);
    start..start
}

pub(super) fn at(file: &Path, text: &str, span: Range<usize>, message: &str) -> CatalogueError {
    let before = text.get(..span.start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    // The parser's message may have several lines, but an error has one.
    let message = message.lines().map(str::trim).collect::<Vec<_>>().join(", ");
    CatalogueError::Entry(Box::new(EntryError { file: file.to_owned(), line, column, message }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;

    const OWN: &str = "engine = \"mysql\"\nversion = \"8.0.33\"\nfamily = \"mysql\"\nstorage_engines = [\"innodb\"]\n\n\
                       [[source]]\nkind = \"folder\"\npath = \"build\"\n";

    fn error(text: &str) -> String {
        parse(text, Path::new("own/x.toml")).unwrap_err().to_string()
    }

    #[test]
    fn an_own_entry_replaces_one_of_its_name_and_others_are_added() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.toml"), OWN).unwrap();
        fs::write(folder.path().join("b.toml"), OWN.replace("\"mysql\"\nv", "\"mysql-patched\"\nv")).unwrap();
        fs::write(folder.path().join("notes.txt"), "not an entry").unwrap();
        fs::write(folder.path().join("lock.toml"), "[[archive]]").unwrap();
        let mut catalogue = Catalogue::builtin();
        let count = catalogue.entries().len();
        catalogue.add_folder(folder.path()).unwrap();
        assert_eq!(catalogue.entries().len(), count + 1);
        let own = catalogue.find(&"mysql@8.0.33".parse().unwrap()).unwrap();
        assert_eq!(own.storage_engines, ["innodb"]);
        let patched = catalogue.find(&"mysql-patched".parse().unwrap()).unwrap();
        assert_eq!(patched.version, "8.0.33");
    }

    #[test]
    fn a_fault_is_told_with_its_place() {
        assert!(error("engine = 5").starts_with("own/x.toml:1:10: "), "{}", error("engine = 5"));
        let text = OWN.replace("family = \"mysql\"", "family = \"oracle\"");
        assert!(error(&text).starts_with("own/x.toml:3:10: "), "{}", error(&text));
        let text = OWN.replace("path", "paths");
        assert!(error(&text).contains("paths") && error(&text).lines().count() == 1, "{}", error(&text));
        let text = OWN.replace("8.0.33", "8/33");
        assert!(error(&text).starts_with("own/x.toml:1:1: "), "{}", error(&text));
        let text = format!("{OWN}\n[storage_engine_options.rocksdb]\na = \"b\"\n");
        assert!(error(&text).starts_with("own/x.toml:10:1: 'rocksdb'"), "{}", error(&text));
        let text = OWN.split("[[source]]").next().unwrap();
        assert!(error(text).contains("needs a [[source]]"), "{}", error(text));
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = read_folder(Path::new("/nowhere/engines")).unwrap_err().to_string();
        assert!(error.contains("/nowhere/engines"), "{error}");
    }
}

//! A side of a comparison, as the command line names it.

use anyhow::{Result, bail};
use dyno_store::{Run, RunId};

/// A side: a system of the chosen run, or one or more runs.
#[derive(Debug, PartialEq)]
pub(super) enum Word<'a> {
    System(&'a str),
    /// Each run with one of its systems. `None` stands for all its systems.
    Runs(Vec<(RunId, Option<&'a str>)>),
}

impl<'a> Word<'a> {
    /// Parses a side. `3` is a run, unless the chosen run has a system with that name. `3:mysql` is a system of a
    /// run. `3,5,8` and `3,5,8:mysql` are several runs. Anything else is a system.
    pub(super) fn read<E>(word: &'a str, chosen: &impl Fn() -> Result<Run, E>) -> Result<Self>
    where
        anyhow::Error: From<E>,
    {
        let Some(mut runs) = word.split(',').map(run).collect::<Option<Vec<_>>>() else {
            return Ok(Self::System(word));
        };
        if let [(_, None)] = runs[..]
            && chosen()?.systems.iter().any(|system| system.id == word)
        {
            return Ok(Self::System(word));
        }
        // In `3,5,8:mysql`, the system belongs to all three runs.
        let mut of_next = None;
        for (_, system) in runs.iter_mut().rev() {
            of_next = system.or(of_next);
            *system = of_next;
        }
        if runs[0].1.is_some() && runs.last().is_some_and(|(_, last)| last.is_none()) {
            bail!("{word}: some of these runs have a system and some have none; write RUN:SYSTEM for each");
        }
        let mut ids: Vec<RunId> = runs.iter().map(|(run, _)| *run).collect();
        ids.sort_unstable();
        if let Some((twice, _)) = ids.iter().zip(ids.iter().skip(1)).find(|(one, next)| one == next) {
            bail!("{word}: names run {twice} twice; leave one of them out");
        }
        Ok(Self::Runs(runs))
    }
}

/// Parses `3` or `3:mysql`.
fn run(text: &str) -> Option<(RunId, Option<&str>)> {
    match text.split_once(':') {
        Some((run, system)) => Some((RunId(run.parse().ok()?), Some(system))),
        None => Some((RunId(text.parse().ok()?), None)),
    }
}

#[cfg(test)]
mod tests {
    use dyno_store::{Ending, RunRecord, RunState, SystemRecord};

    use super::*;

    fn read(word: &str) -> Result<Word<'_>> {
        Word::read(word, &|| {
            let system = SystemRecord { id: "7".to_owned(), ..SystemRecord::default() };
            let run = Run::new(RunId(1), RunRecord::default(), RunState::Ended(Ending::Finished));
            Ok::<_, anyhow::Error>(Run { systems: vec![system], ..run })
        })
    }

    #[test]
    fn a_side_is_a_system_or_runs() {
        let runs = |runs: &[(i64, Option<&'static str>)]| {
            Word::Runs(runs.iter().map(|(run, system)| (RunId(*run), *system)).collect())
        };
        for (word, expected) in [
            ("mysql", Word::System("mysql")),
            ("7", Word::System("7")),
            ("my,sql", Word::System("my,sql")),
            ("3", runs(&[(3, None)])),
            ("3:a", runs(&[(3, Some("a"))])),
            ("3,5,7", runs(&[(3, None), (5, None), (7, None)])),
            ("3,5,7:a", runs(&[(3, Some("a")), (5, Some("a")), (7, Some("a"))])),
            ("3:a,5:b", runs(&[(3, Some("a")), (5, Some("b"))])),
        ] {
            assert_eq!(read(word).unwrap(), expected, "{word}");
        }
    }

    #[test]
    fn a_list_that_cannot_be_meant_is_refused() {
        let error = |word| read(word).unwrap_err().to_string();
        assert!(error("3:a,5").contains("some of these runs have a system"), "{}", error("3:a,5"));
        assert!(error("3,5,3").contains("names run 3 twice"), "{}", error("3,5,3"));
    }
}

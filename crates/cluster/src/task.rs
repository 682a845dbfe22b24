//! The command of a task.

use std::path::PathBuf;

use dyno_printable::quote;

/// `dyno task`, without the words that differ between rounds and hosts.
#[derive(Clone, Debug)]
pub struct TaskCommand {
    /// The path of this `dyno`.
    pub program: String,
    /// Name of a built-in plan, or the path of a file.
    pub plan: String,
    /// Files that the plan's own file names.
    pub files: Vec<PathBuf>,
    /// The user's options that change the plan.
    pub options: Vec<String>,
    pub seed: u64,
    /// Id of the whole run.
    pub spread_id: String,
}

/// The words that differ, for a shell script.
pub(crate) struct TaskWords<'a> {
    pub(crate) program: &'a str,
    pub(crate) plan: &'a str,
    /// The round, from 0.
    pub(crate) round: &'a str,
    pub(crate) node: &'a str,
    /// The path of the results file; `-` for standard output.
    pub(crate) deliver: &'a str,
}

impl TaskCommand {
    /// A line of a shell script that is replaced by the task.
    pub(crate) fn line(&self, words: &TaskWords<'_>) -> String {
        let TaskWords { program, plan, round, node, deliver } = words;
        let options: Vec<String> = self.options.iter().map(|option| quote(option)).collect();
        let (seed, id, options) = (self.seed, &self.spread_id, options.join(" "));
        let gap = if options.is_empty() { "" } else { " " };
        format!(
            "exec {program} task {plan} {options}{gap}--seed {seed} --spread-id {id} --round {round} --node {node} \
             --deliver {deliver}"
        )
    }
}

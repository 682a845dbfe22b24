//! The command of a task.

use std::path::PathBuf;

use dyno_printable::quote;

/// The arguments of `dyno task` that are the same for all rounds, and the paths of the program and the plan on this
/// host.
#[derive(Clone, Debug)]
pub struct TaskCommand {
    /// The path of the running `dyno`.
    pub program: String,
    /// Name of a built-in plan, or the path of a file.
    pub plan: String,
    /// The files to which the plan's own file refers, such as scripts.
    pub files: Vec<PathBuf>,
    /// The user's options that change the plan.
    pub options: Vec<String>,
    pub seed: u64,
    /// Id of the run to which the rounds belong.
    pub spread_id: String,
}

/// The arguments of a task's command that differ between rounds and hosts, quoted for a shell.
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
    /// Returns the command as a line of a shell script. The line begins with `exec`, so the task replaces the shell
    /// that runs the line.
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

//! The `sbatch` command that submits an array job, and the script that each task of the job runs.

use super::Slurm;
use crate::task::TaskWords;
use dyno_printable::quote;

impl Slurm {
    /// Returns the arguments with which `sbatch` submits an array job for these rounds.
    pub(super) fn submission(&self, rounds: &[u32]) -> Vec<String> {
        let list: Vec<String> = rounds.iter().map(u32::to_string).collect();
        let at_once = self.options.nodes.map(|nodes| format!("%{nodes}")).unwrap_or_default();
        let mut arguments = vec![
            "--parsable".to_owned(),
            format!("--job-name={}", self.job_name()),
            format!("--array={}{at_once}", list.join(",")),
            "--nodes=1".to_owned(),
            "--exclusive".to_owned(),
            "--requeue".to_owned(),
            "--open-mode=append".to_owned(),
            format!("--output={}", self.folder.logs().join("round-%a.%A.log").display()),
        ];
        arguments.extend(self.options.partition.as_ref().map(|name| format!("--partition={name}")));
        arguments.push(self.folder.script().display().to_string());
        arguments
    }

    /// Returns the script that each task runs. It writes a start file with the node's name, and then runs the round.
    pub(super) fn script(&self) -> String {
        let starts = quote(&self.folder.starts().display().to_string());
        // The folder is quoted. The variable with the round's number is not, because the shell must expand it.
        let file = self.folder.round("@").display().to_string();
        let (before, after) = file.rsplit_once('@').unwrap_or((&file, ""));
        let deliver = format!("{}\"$SLURM_ARRAY_TASK_ID\"{}", quote(before), quote(after));
        let line = self.task.line(&TaskWords {
            program: &quote(&self.task.program),
            plan: &quote(&self.task.plan),
            round: "\"$SLURM_ARRAY_TASK_ID\"",
            node: "\"$SLURMD_NODENAME\"",
            deliver: &deliver,
        });
        format!(
            "#!/bin/sh\n\
             # A round of a run of Dyno, all systems on this node.\n\
             echo \"$SLURMD_NODENAME\" > {starts}/\"$SLURM_ARRAY_TASK_ID.$SLURM_JOB_ID.${{SLURM_RESTART_COUNT:-0}}\"\n\
             {line}\n"
        )
    }
}

/// Reads the job's number from the output of `sbatch --parsable`, which is `12` or `12;cluster`.
pub(super) fn job_id(told: &str) -> Option<u64> {
    told.trim().lines().last()?.split(';').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use crate::{Folder, Slurm, SlurmOptions, TaskCommand};

    use super::*;

    fn slurm(results: &Path, program: &str) -> Slurm {
        let task = TaskCommand {
            program: program.to_owned(),
            plan: "my plan.toml".to_owned(),
            files: Vec::new(),
            options: vec!["--only".to_owned(), "point*".to_owned()],
            seed: 7,
            spread_id: "5f".to_owned(),
        };
        let options = SlurmOptions { nodes: Some(2), partition: Some("bench".to_owned()) };
        Slurm::new(Folder::of(results, "5f"), task, options)
    }

    #[test]
    fn the_job_is_an_array_on_exclusive_nodes_that_may_be_requeued() {
        let arguments = slurm(Path::new("/shared/dyno.db"), "dyno").submission(&[0, 2, 5]);
        for wanted in
            ["--array=0,2,5%2", "--exclusive", "--requeue", "--partition=bench", "--job-name=dyno-5f"]
        {
            assert!(arguments.iter().any(|argument| argument == wanted), "{wanted}: {arguments:?}");
        }
        assert_eq!(arguments.last().unwrap(), "/shared/dyno.db.tasks/5f/task.sh");
    }

    #[test]
    fn a_task_says_where_it_began_and_gets_its_round_node_and_file() {
        let here = tempfile::tempdir().unwrap();
        // The folder's name has characters that an unquoted word of a shell must not have.
        let shared = here.path().join("it's $HOME");
        let slurm = slurm(&shared.join("dyno.db"), "echo");
        slurm.folder.create().unwrap();
        let told = Command::new("sh")
            .args(["-c", &slurm.script()])
            .envs([("SLURM_ARRAY_TASK_ID", "3"), ("SLURM_JOB_ID", "41"), ("SLURMD_NODENAME", "n2")])
            .env_remove("SLURM_RESTART_COUNT")
            .output()
            .unwrap();
        // `exec echo` replaces dyno, so the script prints the words as the shell sees them.
        let deliver = slurm.folder.round("3");
        let expected = format!(
            "task my plan.toml --only point* --seed 7 --spread-id 5f --round 3 --node n2 --deliver {}\n",
            deliver.display()
        );
        assert_eq!(String::from_utf8(told.stdout).unwrap(), expected);
        let start = std::fs::read_to_string(slurm.folder.starts().join("3.41.0")).unwrap();
        assert_eq!(start, "n2\n");
    }

    #[test]
    fn the_number_of_a_job_stands_before_its_cluster() {
        assert_eq!([job_id("12\n"), job_id("12;big\n"), job_id("error\n")], [Some(12), Some(12), None]);
    }
}

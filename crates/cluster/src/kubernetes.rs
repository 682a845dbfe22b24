//! An Indexed Job of Kubernetes, as a manifest for people to read, change and apply.

use crate::quote::quote;
use crate::task::{TaskCommand, TaskWords};

/// What a manifest needs beside the task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kubernetes {
    pub rounds: u32,
    /// Largest number of pods at the same time, each on a node of its own; none for no limit.
    pub nodes: Option<u32>,
}

/// A manifest that was not applied to a cluster by us: image and claim are the user's to fill in.
pub fn manifest(task: &TaskCommand, options: &Kubernetes) -> String {
    let Kubernetes { rounds, nodes } = options;
    let line = task.line(&TaskWords {
        program: "dyno",
        plan: &quote(&task.plan),
        round: "\"$JOB_COMPLETION_INDEX\"",
        node: "\"$NODE_NAME\"",
        deliver: "/rounds/round-\"$JOB_COMPLETION_INDEX\".db",
    });
    // In a block scalar of YAML a text needs no quotes.
    format!(
        "# The rounds of a run of Dyno as an Indexed Job. Replace IMAGE and CLAIM. A plan that is a file must be in the image.
# Afterwards: dyno results merge rounds/round-*.db
apiVersion: batch/v1
kind: Job
metadata:
  name: dyno-{id}
spec:
  completionMode: Indexed
  completions: {rounds}
  parallelism: {at_once}
  backoffLimit: {rounds}
  template:
    metadata:
      labels: {{ app: dyno-{id} }}
    spec:
      restartPolicy: Never
      # One round on a node at a time.
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector: {{ matchLabels: {{ app: dyno-{id} }} }}
      containers:
        - name: dyno
          image: IMAGE
          env:
            - name: NODE_NAME
              valueFrom: {{ fieldRef: {{ fieldPath: spec.nodeName }} }}
          command:
            - sh
            - -c
            - |
              {line}
          volumeMounts:
            - {{ name: rounds, mountPath: /rounds }}
      volumes:
        - name: rounds
          persistentVolumeClaim: {{ claimName: CLAIM }}
",
        id = task.spread_id,
        at_once = nodes.unwrap_or(*rounds),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_has_an_index_for_each_round_and_its_command_on_one_line() {
        let task = TaskCommand {
            program: "/opt/dyno".to_owned(),
            plan: "first-look".to_owned(),
            files: Vec::new(),
            options: vec!["--only".to_owned(), "point*".to_owned()],
            seed: 7,
            spread_id: "5f".to_owned(),
        };
        let text = manifest(&task, &Kubernetes { rounds: 8, nodes: Some(2) });
        for wanted in ["  completions: 8\n", "  parallelism: 2\n", "  name: dyno-5f\n"] {
            assert!(text.contains(wanted), "{wanted}{text}");
        }
        let line =
            text.lines().find(|line| line.contains("exec dyno run first-look --only 'point*'")).unwrap();
        assert!(line.ends_with("--deliver /rounds/round-\"$JOB_COMPLETION_INDEX\".db"), "{line}");
    }
}

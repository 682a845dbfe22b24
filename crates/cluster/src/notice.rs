//! Messages for users while rounds run elsewhere.

use std::fmt;

/// A message for users. Rounds are counted from 0 here, and from 1 in the text.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    Submitted {
        rounds: usize,
    },
    /// Tasks that an earlier process submitted are still in the queue or running. Their results will be used.
    Adopted {
        rounds: usize,
    },
    Started {
        round: u32,
        node: String,
    },
    Delivered {
        round: u32,
        node: String,
        done: u32,
        of: u32,
    },
    /// An attempt ended without a result.
    Lost {
        round: u32,
        node: Option<String>,
        reason: String,
        is_tried_again: bool,
    },
    /// A host differs from the first host that delivered a round.
    HostDiffers {
        node: String,
        first: String,
        differences: Vec<String>,
    },
    Told(String),
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Submitted { rounds: 1 } => write!(f, "submitted a round"),
            Self::Submitted { rounds } => write!(f, "submitted {rounds} rounds"),
            Self::Adopted { rounds: 1 } => write!(f, "a round that was submitted before continues"),
            Self::Adopted { rounds } => write!(f, "{rounds} rounds that were submitted before continue"),
            Self::Started { round, node } => write!(f, "round {} begins on {node}", round + 1),
            Self::Delivered { round, node, done, of } => {
                write!(f, "[{done}/{of}] round {} is done on {node}", round + 1)
            }
            Self::Lost { round, node, reason, is_tried_again } => {
                let on = node.as_ref().map(|node| format!(" on {node}")).unwrap_or_default();
                let next = if *is_tried_again { "it is tried again" } else { "it is given up" };
                write!(f, "warning: round {}{on} failed: {reason}; {next}", round + 1)
            }
            Self::HostDiffers { node, first, differences } => {
                write!(f, "warning: {node} differs from {first}: {}", differences.join("; "))
            }
            Self::Told(text) => f.write_str(text),
        }
    }
}

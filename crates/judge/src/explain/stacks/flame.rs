//! Flame graphs as trees: stacks merged by their outer frames.

use dyno_store::StackProfile;

use super::FlameThreads;

/// A node of the tree: a function that was called by the functions above it, with the functions that it called.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlameNode {
    pub function: String,
    /// The weight of the function, including all functions that it called. In the flame graph of one system, it is
    /// the mean number of threads in the function. In the difference of two systems, it is the candidate's
    /// thread-seconds per operation.
    pub weight: f64,
    /// In the difference of two systems, the base's thread-seconds per operation; otherwise 0.
    pub base: f64,
    /// The functions that this function called, in the order of their names.
    pub children: Vec<FlameNode>,
}

/// The stacks of some threads of a system as a tree. The root stands for all these threads.
pub fn flame(profile: &StackProfile, threads: FlameThreads) -> FlameNode {
    let mut root = FlameNode::default();
    root.add_all(profile, threads, 1.0, |node| &mut node.weight);
    root
}

/// The stacks of some threads of two systems as a tree, in thread-seconds per operation. `None` if a system has no
/// operation or no sample.
pub fn flame_difference(
    base: &StackProfile,
    candidate: &StackProfile,
    threads: FlameThreads,
) -> Option<FlameNode> {
    let scale = |profile: &StackProfile| {
        let seconds = profile.seconds / profile.operations as f64;
        (seconds.is_finite() && profile.samples > 0).then_some(seconds)
    };
    let (of_base, of_candidate) = (scale(base)?, scale(candidate)?);
    let mut root = FlameNode::default();
    root.add_all(base, threads, of_base, |node| &mut node.base);
    root.add_all(candidate, threads, of_candidate, |node| &mut node.weight);
    Some(root)
}

impl FlameNode {
    /// Adds stacks. Their weight is the mean number of threads times `scale`.
    fn add_all(
        &mut self,
        profile: &StackProfile,
        threads: FlameThreads,
        scale: f64,
        weight: fn(&mut Self) -> &mut f64,
    ) {
        let each = scale / f64::from(profile.samples.max(1));
        for stack in profile.stacks.iter().filter(|stack| threads.has(stack)) {
            let kind = (threads == FlameThreads::Background).then_some(stack.thread_kind.as_str());
            let frames = kind.into_iter().chain(stack.frames.split(';'));
            self.add(frames, f64::from(stack.count) * each, weight);
        }
    }

    fn add<'a>(
        &mut self,
        frames: impl Iterator<Item = &'a str>,
        added: f64,
        weight: fn(&mut Self) -> &mut f64,
    ) {
        *weight(self) += added;
        let mut node = self;
        for frame in frames {
            let at = node.children.binary_search_by(|child| child.function.as_str().cmp(frame));
            let at = at.unwrap_or_else(|at| {
                node.children.insert(at, Self { function: frame.to_owned(), ..Self::default() });
                at
            });
            node = &mut node.children[at];
            *weight(node) += added;
        }
    }
}

//! Leave-one-out: how well a model predicts points that it was not fitted to.

/// Predicts each item from all other items. The predictions are in the order of the items (Stone, "Cross-validatory
/// choice and assessment of statistical predictions", Journal of the Royal Statistical Society B 36(2), 1974).
pub fn leave_one_out<T: Clone, U>(items: &[T], predict: impl Fn(&[T], &T) -> U) -> Vec<U> {
    let without = |at: usize| -> Vec<T> {
        let others = items.iter().enumerate().filter(|(other, _)| *other != at);
        others.map(|(_, item)| item.clone()).collect()
    };
    items.iter().enumerate().map(|(at, item)| predict(&without(at), item)).collect()
}

/// Whether one of the capacities is outside the range of the measured capacities of its resource.
pub fn is_beyond(measured: &[&[f64]], capacities: &[f64]) -> bool {
    capacities.iter().enumerate().any(|(at, capacity)| {
        let of_resource = || measured.iter().map(|point| point[at]);
        of_resource().all(|known| known < *capacity) || of_resource().all(|known| known > *capacity)
    })
}

//! An additive model of factors with levels, fitted by least squares.

/// One measured configuration: the level of each factor, counted from 0, and the measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    pub levels: Vec<usize>,
    pub value: f64,
}

/// The effect of each level of each factor against the factor's level 0, in the unit of the values.
///
/// The model is `value = constant + Σ effect(factor, level) + error`. In a full factorial design, an effect
/// is the mean difference over all levels of the other factors. In an unbalanced fraction, least squares
/// remove the contributions of the other factors (Montgomery, "Design and Analysis of Experiments", chapters
/// 5 and 15). `None` if the configurations do not determine all effects.
pub fn additive_effects(level_counts: &[usize], observations: &[Observation]) -> Option<Vec<Vec<f64>>> {
    // The first column is the constant. Each factor has one column for each level except the first.
    let starts: Vec<usize> = level_counts
        .iter()
        .scan(1, |next, count| {
            let start = *next;
            *next += count.saturating_sub(1);
            Some(start)
        })
        .collect();
    let columns = 1 + level_counts.iter().map(|count| count.saturating_sub(1)).sum::<usize>();
    let ones = |observation: &Observation| -> Vec<usize> {
        let of_factors = observation.levels.iter().zip(&starts);
        let set = of_factors.filter(|(level, _)| **level > 0).map(|(level, start)| start + level - 1);
        std::iter::once(0).chain(set).collect()
    };
    // Normal equations, with the right side as the last column.
    let mut rows = vec![vec![0.0; columns + 1]; columns];
    for observation in observations {
        let ones = ones(observation);
        for &row in &ones {
            for &column in &ones {
                rows[row][column] += 1.0;
            }
            rows[row][columns] += observation.value;
        }
    }
    let solution = solve(rows)?;
    let effects = level_counts.iter().zip(&starts).map(|(count, start)| {
        let others = (0..count.saturating_sub(1)).map(|level| solution[start + level]);
        std::iter::once(0.0).chain(others).collect()
    });
    Some(effects.collect())
}

/// If the largest available pivot is below this, the equations count as singular. For [`additive_effects`], the
/// coefficients are counts, so a smaller pivot is a rounding error of 0.
const PIVOT_MIN: f64 = 1e-6;

/// Gauss-Jordan elimination with partial pivoting. Each row ends with its right side. `None` if there is no
/// unique solution.
pub(crate) fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = rows.len();
    for column in 0..size {
        let pivot =
            (column..size).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        if rows[pivot][column].abs() < PIVOT_MIN {
            return None;
        }
        rows.swap(column, pivot);
        let pivot_row: Vec<f64> = rows[column].iter().map(|value| value / rows[column][column]).collect();
        for (at, row) in rows.iter_mut().enumerate() {
            let factor = row[column];
            if at == column {
                row.clone_from(&pivot_row);
            } else if factor != 0.0 {
                row.iter_mut().zip(&pivot_row).for_each(|(value, pivot)| *value -= factor * pivot);
            }
        }
    }
    Some(rows.into_iter().map(|row| row[size]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(levels: &[usize]) -> Observation {
        let effects = [[0.0, 1.5, 0.0], [0.0, -0.25, 2.0]];
        let value = 7.0 + levels.iter().zip(effects).map(|(level, of_factor)| of_factor[*level]).sum::<f64>();
        Observation { levels: levels.to_vec(), value }
    }

    fn close(found: &[Vec<f64>], expected: [&[f64]; 2]) {
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.len(), expected.len());
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        }
    }

    #[test]
    fn a_full_design_shows_each_effect() {
        let all: Vec<_> = (0..2).flat_map(|a| (0..3).map(move |b| observed(&[a, b]))).collect();
        close(&additive_effects(&[2, 3], &all).unwrap(), [&[0.0, 1.5], &[0.0, -0.25, 2.0]]);
    }

    #[test]
    fn an_unbalanced_part_shows_them_too() {
        let part: Vec<_> = [[0, 0], [1, 0], [1, 1], [0, 2]].iter().map(|levels| observed(levels)).collect();
        close(&additive_effects(&[2, 3], &part).unwrap(), [&[0.0, 1.5], &[0.0, -0.25, 2.0]]);
    }

    #[test]
    fn configurations_that_change_two_factors_together_determine_neither() {
        let together: Vec<_> = [[0, 0], [1, 1]].iter().map(|levels| observed(levels)).collect();
        assert_eq!(additive_effects(&[2, 2], &together), None);
        assert_eq!(additive_effects(&[2, 2], &[]), None);
    }

    #[test]
    fn an_interaction_is_averaged_over_the_other_factor() {
        let of = |a: usize, b: usize, value: f64| Observation { levels: vec![a, b], value };
        let crossed = [of(0, 0, 0.0), of(1, 0, 1.0), of(0, 1, 0.0), of(1, 1, 3.0)];
        close(&additive_effects(&[2, 2], &crossed).unwrap(), [&[0.0, 2.0], &[0.0, 1.0]]);
    }
}

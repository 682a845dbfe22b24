//! Non-negative non-linear least squares for the Universal Scalability Law.

/// Largest number of steps of a fit. A typical fit takes a dozen.
const STEPS_MAX: usize = 200;

/// Throughput of one trial at a level of concurrency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub clients: f64,
    /// Operations per second.
    pub rate: f64,
}

/// A curve of the Universal Scalability Law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Curve {
    pub(super) single: f64,
    pub(super) contention: f64,
    pub(super) coherency: f64,
}

impl Curve {
    pub(super) fn rate(&self, clients: f64) -> f64 {
        self.single * shape(clients, self.contention, self.coherency)
    }

    /// √((1 − α)/β), at least 1.
    pub(super) fn peak_clients(&self) -> f64 {
        ((1.0 - self.contention).max(0.0) / self.coherency).sqrt().max(1.0)
    }

    /// Sum of squared residuals.
    pub(super) fn error(&self, points: &[Point]) -> f64 {
        points.iter().map(|point| (point.rate - self.rate(point.clients)).powi(2)).sum()
    }

    /// The best curve with the given α and β. The best γ follows from these, because the curve is linear in γ.
    fn with_shape(points: &[Point], contention: f64, coherency: f64) -> Self {
        let shape = |point: &Point| shape(point.clients, contention, coherency);
        let product: f64 = points.iter().map(|point| point.rate * shape(point)).sum();
        let square: f64 = points.iter().map(|point| shape(point).powi(2)).sum();
        Self { single: product / square, contention, coherency }
    }
}

fn shape(clients: f64, contention: f64, coherency: f64) -> f64 {
    clients / (1.0 + contention * (clients - 1.0) + coherency * clients * (clients - 1.0))
}

/// The least squares curve with α, β ≥ 0. The fit starts from several points, because the error has several minima.
/// `None` if no fit gives a finite curve.
pub(super) fn fit(points: &[Point]) -> Option<Curve> {
    let clients_max = points.iter().map(|point| point.clients).fold(1.0, f64::max);
    let starts = [(0.0, 0.0), (0.02, 0.0), (0.2, 0.0), (0.02, 1.0), (0.2, 1.0), (0.0, 1.0)];
    starts
        .into_iter()
        // β is scaled so that it matters at the largest number of clients.
        .map(|(contention, coherency)| descend(points, contention, coherency / clients_max.powi(2)))
        .filter(|curve| curve.single.is_finite() && curve.error(points).is_finite())
        .min_by(|a, b| a.error(points).total_cmp(&b.error(points)))
}

/// Levenberg and Marquardt's method on α and β, projected onto non-negative values, with γ eliminated ("variable
/// projection"; Golub and Pereyra, SIAM Journal on Numerical Analysis 10(2), 1973). A parameter at 0 that would
/// become negative is fixed for the step.
fn descend(points: &[Point], contention: f64, coherency: f64) -> Curve {
    let mut curve = Curve::with_shape(points, contention, coherency);
    let mut error = curve.error(points);
    let mut damping = 1e-3;
    for _ in 0..STEPS_MAX {
        let (gradient, hessian) = derivatives(points, &curve);
        let Some(step) = step(&curve, gradient, hessian, damping) else { break };
        let next = Curve::with_shape(
            points,
            (curve.contention - step[0]).max(0.0),
            (curve.coherency - step[1]).max(0.0),
        );
        let next_error = next.error(points);
        if next_error < error {
            let gain = (error - next_error) / error;
            (curve, error) = (next, next_error);
            damping /= 10.0;
            if gain < 1e-14 {
                break;
            }
        } else {
            damping *= 10.0;
            if damping > 1e12 {
                break;
            }
        }
    }
    curve
}

/// Gradient and Gauss–Newton Hessian of half the error with respect to α and β.
fn derivatives(points: &[Point], curve: &Curve) -> ([f64; 2], [[f64; 2]; 2]) {
    let (_, columns) = jacobian(points, curve);
    let residuals: Vec<f64> = points.iter().map(|point| curve.rate(point.clients) - point.rate).collect();
    let gradient = [product(&columns[0], &residuals), product(&columns[1], &residuals)];
    let cross = product(&columns[0], &columns[1]);
    (gradient, [[product(&columns[0], &columns[0]), cross], [cross, product(&columns[1], &columns[1])]])
}

/// The curve's shape, and the derivatives of the rates with respect to α and β. Because γ is eliminated, the
/// component along the shape is removed from the derivatives (Kaufman, BIT 15, 1975).
fn jacobian(points: &[Point], curve: &Curve) -> (Vec<f64>, [Vec<f64>; 2]) {
    let shapes: Vec<f64> =
        points.iter().map(|point| shape(point.clients, curve.contention, curve.coherency)).collect();
    let square = product(&shapes, &shapes);
    let column = |factor: fn(f64) -> f64| {
        let raw: Vec<f64> = points
            .iter()
            .zip(&shapes)
            .map(|(point, shape)| -curve.single * shape * shape * factor(point.clients) / point.clients)
            .collect();
        let along = product(&raw, &shapes) / square;
        raw.iter().zip(&shapes).map(|(raw, shape)| raw - along * shape).collect::<Vec<f64>>()
    };
    let columns = [column(|clients| clients - 1.0), column(|clients| clients * (clients - 1.0))];
    (shapes, columns)
}

/// Leverage of each point, from 0 to 1: the diagonal of the hat matrix, without the parameters that are fixed at 0.
pub(super) fn leverages(points: &[Point], curve: &Curve) -> Vec<f64> {
    let (shapes, [first, second]) = jacobian(points, curve);
    let is_free = [curve.contention > 0.0, curve.coherency > 0.0];
    let mut directions = vec![shapes];
    match is_free {
        [true, true] => {
            let along = product(&first, &second) / product(&first, &first);
            directions
                .push(second.iter().zip(&first).map(|(second, first)| second - along * first).collect());
            directions.push(first);
        }
        [true, false] => directions.push(first),
        [false, true] => directions.push(second),
        [false, false] => {}
    }
    let share = |at: usize| -> f64 {
        directions.iter().map(|direction| direction[at].powi(2) / product(direction, direction)).sum()
    };
    (0..points.len()).map(share).collect()
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The step to subtract from α and β; `None` if both are fixed.
fn step(curve: &Curve, gradient: [f64; 2], hessian: [[f64; 2]; 2], damping: f64) -> Option<[f64; 2]> {
    let damped = [hessian[0][0] * (1.0 + damping), hessian[1][1] * (1.0 + damping)];
    let is_free = |at: usize, value: f64| damped[at] > 0.0 && (value > 0.0 || gradient[at] < 0.0);
    match (is_free(0, curve.contention), is_free(1, curve.coherency)) {
        (true, true) => {
            let determinant = damped[0] * damped[1] - hessian[0][1] * hessian[1][0];
            let first = (gradient[0] * damped[1] - gradient[1] * hessian[0][1]) / determinant;
            let second = (gradient[1] * damped[0] - gradient[0] * hessian[1][0]) / determinant;
            (determinant > 0.0).then_some([first, second])
        }
        (true, false) => Some([gradient[0] / damped[0], 0.0]),
        (false, true) => Some([0.0, gradient[1] / damped[1]]),
        (false, false) => None,
    }
}

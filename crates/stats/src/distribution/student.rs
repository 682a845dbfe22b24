//! Student's t distribution, for intervals of few values.

/// Largest number of terms of the continued fraction. The fraction converges within about √max(a, b) terms.
const TERMS_MAX: usize = 1000;

/// Largest number of steps towards a quantile. Bisection alone would need only a few more steps than an f64 has
/// bits.
const STEPS_MAX: usize = 200;

/// Probability that Student's t with `degrees` degrees of freedom is at least `t`: half the regularised incomplete
/// beta function `I_x(ν/2, ½)` at x = ν/(ν + t²) for positive t (NIST Digital Library of Mathematical Functions,
/// 8.17; Abramowitz and Stegun 26.7.1).
pub fn student_tail(t: f64, degrees: f64) -> f64 {
    if t.is_infinite() {
        return if t > 0.0 { 0.0 } else { 1.0 };
    }
    let half = 0.5 * incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + t * t));
    if t >= 0.0 { half } else { 1.0 - half }
}

/// The t that is exceeded with the probability `tail`, which is from 0 to ½. Uses Newton's method within an interval
/// that contains the quantile. If a Newton step would leave the interval, the interval is halved instead.
pub fn student_quantile(tail: f64, degrees: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while student_tail(high, degrees) > tail && high < f64::MAX / 2.0 {
        low = high;
        high *= 2.0;
    }
    let mut t = f64::midpoint(low, high);
    for _ in 0..STEPS_MAX {
        let excess = student_tail(t, degrees) - tail;
        if excess > 0.0 {
            low = t;
        } else {
            high = t;
        }
        let step = t + excess / density(t, degrees);
        let next = if low < step && step < high { step } else { f64::midpoint(low, high) };
        if (next - t).abs() <= 2.0 * f64::EPSILON * next {
            return next;
        }
        t = next;
    }
    t
}

/// Density of Student's t with `degrees` degrees of freedom (Abramowitz and Stegun 26.7.2).
fn density(t: f64, degrees: f64) -> f64 {
    let front = libm::lgamma(f64::midpoint(degrees, 1.0)) - libm::lgamma(degrees / 2.0);
    (front - f64::midpoint(degrees, 1.0) * (t * t / degrees).ln_1p()).exp()
        / (degrees * std::f64::consts::PI).sqrt()
}

/// The regularised incomplete beta function `I_x(a, b)`. Its continued fraction is evaluated with Lentz's method,
/// at x or at 1 − x, whichever converges faster (DLMF 8.17.22; Press et al., "Numerical Recipes", 3rd ed., section
/// 6.4).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front =
        (libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(a, b, x) / a
    } else {
        1.0 - front * beta_fraction(b, a, 1.0 - x) / b
    }
}

fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let away_from_zero = |value: f64| if value.abs() < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { value };
    let mut numerator = 1.0;
    let mut denominator = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = denominator;
    for term in (1..=TERMS_MAX).map(|term| term as f64) {
        let place = a + 2.0 * term;
        let even = term * (b - term) * x / ((place - 1.0) * place);
        let odd = -(a + term) * (a + b + term) * x / (place * (place + 1.0));
        let before = value;
        for coefficient in [even, odd] {
            denominator = 1.0 / away_from_zero(1.0 + coefficient * denominator);
            numerator = away_from_zero(1.0 + coefficient / numerator);
            value *= numerator * denominator;
        }
        if (value - before).abs() <= f64::EPSILON * before.abs() {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    #[test]
    fn quantiles_are_those_of_the_printed_table() {
        // Textbook values of t for 95% and 99%, two-sided; R: qt(0.975, df), qt(0.995, df).
        for (degrees, at_95, at_99) in [
            (1.0, 12.706_204_736, 63.656_741_16),
            (2.0, 4.302_652_729_9, 9.924_843_200_9),
            (4.0, 2.776_445_105_2, 4.604_094_871_4),
            (30.0, 2.042_272_456_3, 2.749_995_653_6),
        ] {
            assert_close(student_quantile(0.025, degrees), at_95, 1e-8);
            assert_close(student_quantile(0.005, degrees), at_99, 1e-7);
        }
    }

    #[test]
    fn with_one_degree_it_is_cauchy_s_and_with_two_it_is_algebraic() {
        for t in [-3.0_f64, -0.1, 0.0, 0.5, 7.0, 1e6] {
            assert_close(student_tail(t, 1.0), 0.5 - t.atan() / std::f64::consts::PI, 1e-14);
            assert_close(student_tail(t, 2.0), 0.5 - t / (2.0 * (2.0 + t * t).sqrt()), 1e-14);
        }
    }

    #[test]
    fn with_many_degrees_it_is_normal() {
        let normal = 0.5 * libm::erfc(1.96 / std::f64::consts::SQRT_2);
        assert_close(student_tail(1.96, 1e7), normal, 1e-7);
    }

    #[test]
    fn beyond_everything_there_is_nothing() {
        assert_close(student_tail(f64::INFINITY, 3.0), 0.0, 0.0);
        assert_close(student_tail(f64::NEG_INFINITY, 3.0), 1.0, 0.0);
        assert!(student_quantile(1e-12, 1.0) > 1e11);
    }

    #[test]
    fn a_quantile_is_exceeded_as_often_as_it_says() {
        for degrees in [1.0, 2.0, 3.5, 5.0, 29.0, 1e4] {
            for tail in [1e-9, 1e-4, 0.025, 0.2, 0.499, 0.5] {
                let found = student_tail(student_quantile(tail, degrees), degrees);
                assert!((found / tail - 1.0).abs() < 1e-9, "{degrees} degrees, {tail}: {found}");
            }
        }
    }
}

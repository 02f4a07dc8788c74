//! Bounds on an unknown probability from a sample (Clopper and Pearson).

/// The number of halvings in the search for a bound.
const HALVINGS: usize = 60;

/// Returns a bound on the probability of a mistake, if `mistakes` of `count` independent samples were mistakes. The
/// probability is below the bound with confidence 1 - `delta`.
///
/// ```
/// use echostack_infer::error_bound;
/// // No mistake in 1000 samples: below ln(1 / 0.05) / 1000, which is about 0.003.
/// assert!((0.0029..0.0030).contains(&error_bound(1000, 0, 0.05)));
/// assert!((0.0047..0.0048).contains(&error_bound(1000, 1, 0.05)));
/// assert_eq!(error_bound(0, 0, 0.05), 1.);
/// ```
pub fn error_bound(count: usize, mistakes: usize, delta: f64) -> f64 {
    if mistakes >= count {
        return 1.;
    }
    let (mut low, mut high) = (mistakes as f64 / count as f64, 1.);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if at_most(count, mistakes, middle) > delta { low = middle } else { high = middle }
    }
    high
}

/// Returns the probability of at most `mistakes` mistakes in `count` samples.
fn at_most(count: usize, mistakes: usize, probability: f64) -> f64 {
    if probability <= 0. || probability >= 1. {
        return if probability <= 0. { 1. } else { 0. };
    }
    let (yes, no) = (probability.ln(), (-probability).ln_1p());
    let mut choose = 0.;
    let mut sum = 0.;
    for k in 0..=mistakes {
        if k > 0 {
            choose += ((count - k + 1) as f64).ln() - (k as f64).ln();
        }
        sum += (choose + k as f64 * yes + (count - k) as f64 * no).exp();
    }
    sum
}

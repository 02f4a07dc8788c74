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

#[cfg(test)]
mod tests {
    use super::*;

    /// The slow way: the probabilities are added up, each as a product of fractions.
    #[test]
    fn at_most_so_many_mistakes_are_as_probable_as_the_binomial_distribution_says() {
        for (count, probability) in [(1, 0.5), (7, 0.1), (20, 0.3), (30, 0.95)] {
            let mut sum = 0.;
            for mistakes in 0..=count {
                let mut exactly = 1.;
                for k in 0..count {
                    exactly *= if k < mistakes {
                        probability * (count - k) as f64 / (mistakes - k) as f64
                    } else {
                        1. - probability
                    };
                }
                sum += exactly;
                assert!((at_most(count, mistakes, probability) - sum).abs() < 1e-9, "{count} {mistakes} {probability}");
            }
        }
    }

    #[test]
    fn the_bound_is_where_so_few_mistakes_become_improbable() {
        for (count, mistakes, delta) in [(10, 0, 0.05), (10, 3, 0.05), (500, 2, 0.01), (500, 499, 0.1)] {
            let bound = error_bound(count, mistakes, delta);
            assert!(bound > mistakes as f64 / count as f64);
            assert!((at_most(count, mistakes, bound) - delta).abs() < 1e-6, "{bound}");
        }
        assert_eq!(error_bound(3, 3, 0.05), 1.);
        assert_eq!(error_bound(3, 5, 0.05), 1.);
    }
}

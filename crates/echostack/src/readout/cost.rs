//! Training that is repeated at a rising cost, until its result is good enough.

/// By what the cost is multiplied when a round has taught nothing new.
const RAISE: f64 = 10.;

/// How a round of training ended.
pub(crate) enum Outcome<T> {
    /// With a result to be kept.
    Done(T),
    /// With more to be taught at the same cost.
    Open,
    /// With nothing new to be taught: only a higher cost can help.
    Stuck,
}

/// Trains again and again, by rounds that are counted from 1 and given the cost, until one is done.
pub(crate) fn at_rising_cost<T, E>(
    mut cost: f64,
    mut round: impl FnMut(usize, f64) -> Result<Outcome<T>, E>,
) -> Result<T, E> {
    let mut number = 1;
    loop {
        match round(number, cost)? {
            Outcome::Done(result) => return Ok(result),
            Outcome::Open => {}
            Outcome::Stuck => cost *= RAISE,
        }
        number += 1;
    }
}

//! A stack that can be rewound to a mark, at a cost proportional to the changes since the mark, not to the depth.

/// A stack with one mark.
#[derive(Clone, Debug)]
pub(crate) struct UndoStack<T> {
    items: Vec<T>,
    /// The lowest depth since the mark. The items below it have not changed.
    low: usize,
    /// The items that were removed from below the marked depth, topmost first.
    removed: Vec<T>,
}

impl<T> Default for UndoStack<T> {
    fn default() -> Self {
        Self { items: Vec::new(), low: 0, removed: Vec::new() }
    }
}

impl<T: Copy> UndoStack<T> {
    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn push(&mut self, item: T) {
        self.items.push(item);
    }

    /// Removes all items above `depth`, which must not be greater than the current depth.
    pub(crate) fn truncate(&mut self, depth: usize) {
        if depth < self.low {
            self.removed.extend(self.items[depth..self.low].iter().rev());
            self.low = depth;
        }
        self.items.truncate(depth);
    }

    /// Sets the mark at the current state of the stack.
    pub(crate) fn mark(&mut self) {
        self.low = self.items.len();
        self.removed.clear();
    }

    /// Goes back to the mark and returns the lowest depth since then. The items below that depth were never changed.
    pub(crate) fn rewind(&mut self) -> usize {
        let low = self.low;
        self.items.truncate(low);
        self.items.extend(self.removed.drain(..).rev());
        self.low = self.items.len();
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, RngExt, SeedableRng};

    #[test]
    fn rewinds_like_a_copy() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        let mut stack = UndoStack::default();
        for _ in 0..2000 {
            stack.mark();
            let copy = stack.items().to_vec();
            let mut lowest = copy.len();
            for _ in 0..random.random_range(0..20) {
                if random.random_bool(0.5) {
                    stack.push(random.next_u32());
                } else {
                    let depth = stack.len() - random.random_range(0..=stack.len().min(4));
                    stack.truncate(depth);
                    lowest = lowest.min(depth);
                }
            }
            if random.random_bool(0.3) {
                assert_eq!(stack.rewind(), lowest);
                assert_eq!(stack.items(), copy);
            }
        }
    }
}

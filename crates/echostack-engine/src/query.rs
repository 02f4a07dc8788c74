//! What the queries of this crate share: columns by their names, and how progress is reported.

use datafusion::common::Column;
use datafusion::logical_expr::Expr;

/// Sees how far a run has come.
pub trait Progress: Sync {
    /// Reports how many of the inputs' bytes are done with, and how many rows were read.
    fn show(&self, bytes: u64, of: u64, rows: u64);
}

impl Progress for () {
    fn show(&self, _: u64, _: u64, _: u64) {}
}

/// A column by exactly this name.
pub(crate) fn column(name: &str) -> Expr {
    Expr::Column(Column::new_unqualified(name))
}

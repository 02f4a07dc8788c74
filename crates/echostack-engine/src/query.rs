//! Items that the queries of this crate share: progress reports, columns by name, and addresses.

use datafusion::common::Column;
use datafusion::logical_expr::Expr;

/// A receiver of progress reports.
pub trait Progress: Sync {
    /// Reports that `bytes` of the inputs' `of` bytes are done, and that `rows` rows were read.
    fn show(&self, bytes: u64, of: u64, rows: u64);
}

impl Progress for () {
    fn show(&self, _: u64, _: u64, _: u64) {}
}

/// Returns the column with exactly this name.
pub(crate) fn column(name: &str) -> Expr {
    Expr::Column(Column::new_unqualified(name))
}

/// Returns true for an address in a store, such as `s3://bucket/file`, and false for a path.
pub fn is_address(place: &str) -> bool {
    place.contains("://")
}

//! Charts and one self-contained HTML page from result tables.

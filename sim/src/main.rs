//! The `sandpool-sim` command.

fn main() {}

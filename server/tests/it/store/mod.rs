//! The store: `suite` is what any implementation must do, the rest is about SQLite.

mod crash;
mod edges;
mod fixture;
mod group_commit;
mod opening;
mod suite;
mod tenancy;

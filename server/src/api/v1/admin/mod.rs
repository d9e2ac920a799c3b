//! `/v1/admin`: for the operator only.

pub(crate) mod accounts;
pub(crate) mod drain;
pub(crate) mod reconcile;
pub(crate) mod status;

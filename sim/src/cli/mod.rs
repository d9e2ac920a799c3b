//! The commands, one file each.

pub(crate) mod bench;
pub(crate) mod verify;

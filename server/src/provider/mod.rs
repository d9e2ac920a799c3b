//! Whoever rents out sandboxes, behind one trait.

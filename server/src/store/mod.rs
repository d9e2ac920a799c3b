//! What must not be lost, behind one trait.

//! Behaviour of the account, in virtual time.

//! Tests of the server's parts from outside.

mod context_filter;
mod keys;
mod openapi;
mod served;
mod store;

//! The document of the API changes only when somebody means it to.

/// After a change that is meant: `cargo insta accept`, or
/// `INSTA_UPDATE=always cargo test -p sandpool-server --test it openapi`.
#[test]
fn the_document_is_as_it_was() {
    let document = sandpool_server::openapi().to_pretty_json().unwrap();
    insta::assert_snapshot!(document);
}

//! Deleting: gone only when the API agrees.

use super::by_name;
use super::stand_in::{Answer, ID, StandIn};
use crate::provider::{ProviderError, SandboxProvider, Target};

fn by_id(client: &impl SandboxProvider) -> Target {
    Target { provider: Some(client.number_of(ID)), ..by_name() }
}

#[tokio::test]
async fn a_delete_is_done_when_the_sandbox_is_gone() {
    let stand_in = StandIn::start().await;
    let get = format!("GET /api/sandbox/{ID}");
    let destroying = stand_in.shows(ID, "DESTROYED_blue-1-7_1764540000000", "destroying");
    stand_in
        .on(&format!("DELETE /api/sandbox/{ID}"), destroying.clone())
        .on(&get, destroying.clone())
        .on(&get, destroying)
        .on(&get, Answer::refusal(404, "Sandbox with ID or name X not found"));
    let client = stand_in.client();
    assert_eq!(client.destroy(by_id(&client)).await, Ok(()));
    assert_eq!(stand_in.asked(&get).len(), 3);
}

#[tokio::test]
async fn a_delete_that_finds_nothing_is_believed_only_when_a_look_agrees() {
    let stand_in = StandIn::start().await;
    let get = format!("GET /api/sandbox/{ID}");
    stand_in
        .on(
            &format!("DELETE /api/sandbox/{ID}"),
            Answer::refusal(404, "Sandbox with ID or name X not found"),
        )
        .on(&get, stand_in.shows(ID, "blue-1-7", "started"));
    let client = stand_in.client();
    let error = client.destroy(by_id(&client)).await.unwrap_err();
    assert!(matches!(error, ProviderError::Conflict { .. }), "{error:?}");
    let nowhere = StandIn::start().await;
    let client = nowhere.client();
    assert_eq!(client.destroy(by_id(&client)).await, Ok(()));
    assert_eq!(nowhere.asked(&get).len(), 1);
}

#[tokio::test]
async fn a_delete_in_the_middle_of_a_change_is_a_conflict_unless_it_is_that_delete() {
    let stand_in = StandIn::start().await;
    let (get, delete) = (format!("GET /api/sandbox/{ID}"), format!("DELETE /api/sandbox/{ID}"));
    stand_in
        .on(&delete, Answer::refusal(409, "Sandbox state change in progress"))
        .on(&get, stand_in.shows(ID, "blue-1-7", "creating"))
        .on(&get, stand_in.shows(ID, "blue-1-7", "destroying"))
        .on(&get, Answer::refusal(404, "Sandbox with ID or name X not found"));
    let client = stand_in.client();
    let error = client.destroy(by_id(&client)).await.unwrap_err();
    assert!(matches!(error, ProviderError::Conflict { .. }), "{error:?}");
    assert_eq!(stand_in.asked(&delete).len(), 1, "when to ask again is not the client's decision");
    assert_eq!(client.destroy(by_id(&client)).await, Ok(()));
}

#[tokio::test]
async fn a_server_error_on_delete_is_no_success() {
    let stand_in = StandIn::start().await;
    stand_in.on(
        &format!("DELETE /api/sandbox/{ID}"),
        Answer::refusal(500, "An unexpected error occurred."),
    );
    let client = stand_in.client();
    let error = client.destroy(by_id(&client)).await.unwrap_err();
    assert!(matches!(error, ProviderError::Lost { .. }), "{error:?}");
}

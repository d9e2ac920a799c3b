//! After a restart: everything that was answered before the kill is there, once, and nothing else.

use super::book::Known;
use super::caller::{Caller, Stop, number_of, text_of};
use crate::rig::{Connection, ConnectionError};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// Compares a caller's book with what the server has, and settles what was left unanswered.
/// Gives what is wrong.
pub(super) async fn check(caller: &mut Caller, server: SocketAddr) -> Result<(), String> {
    let told = |error: &dyn std::fmt::Display| format!("caller {}: {error}", caller.number);
    let mut connection =
        Connection::open(server, &caller.key).await.map_err(|error| told(&error))?;
    let mut compared = 0;
    for known in &mut caller.book {
        let checked = one(known, &mut connection).await;
        compared += checked.map_err(|stop| match stop {
            Stop::Gone => {
                format!("caller {}: the server is gone while nobody kills it", caller.number)
            }
            Stop::Wrong(what) => format!("caller {}: {what}", caller.number),
        })?;
    }
    // An opening of which nothing is known leaves nothing to look at.
    caller.book.retain(|known| !known.id.is_empty());
    caller.counts.compared += compared;
    Ok(())
}

/// Every conversation of one account is listed, and none that is not its own.
pub(super) async fn check_list(
    callers: &[&Caller],
    others: &[&Caller],
    server: SocketAddr,
) -> Result<(), String> {
    let Some(key) = callers.first().map(|caller| caller.key.clone()) else { return Ok(()) };
    let told = |error: ConnectionError| error.to_string();
    let mut connection = Connection::open(server, &key).await.map_err(told)?;
    let mut listed = BTreeSet::new();
    let mut path = "/v1/conversations?limit=1000".to_owned();
    loop {
        let page = connection.json("GET", &path, &json!({})).await.map_err(told)?;
        let items = page["items"].as_array().into_iter().flatten();
        listed.extend(items.filter_map(|item| item["id"].as_str().map(str::to_owned)));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/v1/conversations?limit=1000&after={next}");
    }
    let ids = |of: &[&Caller]| -> BTreeSet<String> {
        of.iter().flat_map(|caller| caller.book.iter().map(|known| known.id.clone())).collect()
    };
    let own = ids(callers);
    if let Some(missing) = own.iter().find(|id| !listed.contains(*id)) {
        return Err(format!("conversation {missing} is not listed"));
    }
    let foreign = ids(others);
    if let Some(seen) = foreign.iter().find(|id| listed.contains(*id)) {
        return Err(format!("conversation {seen} of another account is listed"));
    }
    if let Some(id) = foreign.first() {
        let path = format!("/v1/conversations/{id}");
        let (status, _) =
            connection.call("GET", &path, &[], bytes::Bytes::new()).await.map_err(told)?;
        if status != 404 {
            return Err(format!("another account's conversation {id} was answered {status}"));
        }
    }
    Ok(())
}

fn wrong<T>(what: String) -> Result<T, Stop> {
    Err(Stop::Wrong(what))
}

async fn one(known: &mut Known, connection: &mut Connection) -> Result<u64, Stop> {
    if known.id.is_empty() {
        settle_opening(known, connection).await?;
        if known.id.is_empty() {
            return Ok(0);
        }
    }
    let shown = connection.json("GET", &known.path(), &json!({})).await?;
    let is_closed = !shown["closed_ms"].is_null();
    if is_closed != known.is_closed && !known.closing {
        return wrong(format!("{} is closed: {is_closed}, and should not be", known.id));
    }
    if known.is_closed && !is_closed {
        return wrong(format!("{} was closed and is open again", known.id));
    }
    known.is_closed = is_closed;
    known.closing = is_closed;
    if !is_closed {
        settle_message(known, connection).await?;
        settle_execute(known, connection).await?;
    }
    let messages = everything(connection, &format!("{}/messages", known.path())).await?;
    check_messages(known, &messages)?;
    check_metadata(known, &shown)?;
    let events = everything(connection, &format!("{}/events", known.path())).await?;
    check_events(known, &events)?;
    known.open_turn = None;
    Ok((messages.len() + events.len()) as u64)
}

/// Sent again under its key, an opening is carried out at most once; of one that was cut off in the
/// middle nobody can say.
async fn settle_opening(known: &mut Known, connection: &mut Connection) -> Result<(), Stop> {
    match again(connection, "/v1/conversations", &known.opening, &json!({})).await? {
        None => Ok(()),
        Some(answer) => {
            text_of(&answer, "id")?.clone_into(&mut known.id);
            let twice = again(connection, "/v1/conversations", &known.opening, &json!({})).await?;
            if twice.as_ref() != Some(&answer) {
                return wrong(format!("one key opened two conversations: {answer} and {twice:?}"));
            }
            Ok(())
        }
    }
}

async fn settle_message(known: &mut Known, connection: &mut Connection) -> Result<(), Stop> {
    let (Some(said), Some(key)) = (known.maybe_message.clone(), known.maybe_key.take()) else {
        return Ok(());
    };
    let path = format!("{}/messages", known.path());
    let body = json!({ "kind": "user", "text": said });
    if let Some(answer) = again(connection, &path, &key, &body).await? {
        known.messages.insert(number_of(&answer, "sequence")?, said);
        known.maybe_message = None;
    }
    Ok(())
}

/// An execute under a key that was answered is answered the same, and its end is among the events.
async fn settle_execute(known: &mut Known, connection: &mut Connection) -> Result<(), Stop> {
    let Some((key, body, answer)) = known.keyed_execute.clone() else { return Ok(()) };
    let path = format!("{}/execute", known.path());
    let replayed = again(connection, &path, &key, &body).await?;
    if replayed.as_ref() == Some(&answer) {
        return Ok(());
    }
    wrong(format!("an execute of {} was answered {answer}, and again {replayed:?}", known.id))
}

/// The same request under the same key: its answer, or none if the first one was interrupted.
async fn again(
    connection: &mut Connection,
    path: &str,
    key: &str,
    body: &Value,
) -> Result<Option<Value>, Stop> {
    let headers = [("idempotency-key", key)];
    let (status, answer) = connection.call("POST", path, &headers, body.to_string().into()).await?;
    let text = String::from_utf8_lossy(&answer);
    match status {
        200..300 => serde_json::from_slice(&answer)
            .map(Some)
            .map_err(|error| Stop::Wrong(error.to_string())),
        500 if text.contains("whether it was carried out is not known") => Ok(None),
        _ => wrong(format!("POST {path} again under its key: {status}: {text}")),
    }
}

/// All pages, oldest first; their sequences have no gap.
async fn everything(connection: &mut Connection, path: &str) -> Result<BTreeMap<u64, Value>, Stop> {
    let mut all = BTreeMap::new();
    loop {
        let after = all.len();
        let page =
            connection.json("GET", &format!("{path}?limit=1000&after={after}"), &json!({})).await?;
        let items = page["items"].as_array().cloned().unwrap_or_default();
        if items.is_empty() {
            return Ok(all);
        }
        for item in items {
            let sequence = number_of(&item, "sequence")?;
            if sequence != all.len() as u64 + 1 {
                return wrong(format!("{path} has a gap before {sequence}"));
            }
            all.insert(sequence, item);
        }
    }
}

fn check_messages(known: &mut Known, messages: &BTreeMap<u64, Value>) -> Result<(), Stop> {
    for (sequence, said) in &known.messages {
        match messages.get(sequence).and_then(|message| message["text"].as_str()) {
            Some(text) if text == said => {}
            other => {
                return wrong(format!("{} lost message {sequence} {said:?}: {other:?}", known.id));
            }
        }
    }
    for (sequence, message) in messages {
        if message["kind"] == "notice" || known.messages.contains_key(sequence) {
            continue;
        }
        let text = text_of(message, "text")?;
        if known.maybe_message.as_deref() != Some(text) {
            return wrong(format!(
                "{} has message {sequence} {text:?} twice or from nobody",
                known.id
            ));
        }
        known.messages.insert(*sequence, text.to_owned());
        known.maybe_message = None;
    }
    known.maybe_message = None;
    Ok(())
}

fn check_metadata(known: &mut Known, shown: &Value) -> Result<(), Stop> {
    let there = shown["metadata"]["n"].as_u64();
    if there != known.metadata && (there.is_none() || there != known.maybe_metadata) {
        return wrong(format!("{} has metadata {there:?} and not {:?}", known.id, known.metadata));
    }
    known.metadata = there;
    known.maybe_metadata = None;
    Ok(())
}

fn check_events(known: &Known, events: &BTreeMap<u64, Value>) -> Result<(), Stop> {
    for (sequence, kind) in &known.events {
        let there = events.get(sequence).and_then(|event| event["kind"].as_str());
        if there != Some(kind) {
            return wrong(format!("{} lost event {sequence} {kind}: {there:?}", known.id));
        }
    }
    let has = |kind: &str, key: &str, number: u64| {
        events.values().any(|event| event["kind"] == kind && event[key].as_u64() == Some(number))
    };
    for &turn in &known.turns_begun {
        if !has("turn_began", "turn", turn) {
            return wrong(format!("{} lost the beginning of turn {turn}", known.id));
        }
        if !has("turn_ended", "turn", turn) {
            return wrong(format!("{}: turn {turn} is over and no event says so", known.id));
        }
    }
    if let Some((_, _, answer)) = &known.keyed_execute
        && let Some(execute) = answer["execute"].as_u64()
        && !has("execute_ended", "execute", execute)
    {
        return wrong(format!("{} lost the end of execute {execute}", known.id));
    }
    Ok(())
}

//! A caller: does what agents do, one thing after the other, and keeps what it was answered, until
//! the server is gone.

use super::book::{Counts, Known};
use crate::rig::{Connection, ConnectionError};
use sandpool_sim::Stream;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// Conversations that a caller has open at most.
const MOST_OPEN: usize = 4;

/// The file that is written into sandboxes.
pub(super) const FILE: &str = "kept.txt";

/// Why a caller stops.
#[derive(Debug)]
pub(super) enum Stop {
    /// The server is gone, as it should be.
    Gone,
    /// It answered what it must not.
    Wrong(String),
}

impl From<ConnectionError> for Stop {
    fn from(error: ConnectionError) -> Self {
        match error {
            ConnectionError::Connect(_) | ConnectionError::Http(_) => Self::Gone,
            other => Self::Wrong(other.to_string()),
        }
    }
}

/// A caller with its conversations.
#[derive(Debug)]
pub(super) struct Caller {
    pub(super) key: String,
    pub(super) number: u64,
    pub(super) book: Vec<Known>,
    pub(super) counts: Counts,
    /// Numbers that are never used twice.
    fresh: u64,
}

impl Caller {
    pub(super) fn new(number: u64, key: String) -> Self {
        Self { key, number, book: Vec::new(), counts: Counts::default(), fresh: 0 }
    }

    fn fresh(&mut self) -> u64 {
        self.fresh += 1;
        self.fresh
    }

    /// Goes on until the server is gone. Gives what it must not have answered, if it did.
    pub(super) async fn run(&mut self, server: SocketAddr, luck: &mut Stream) -> Option<String> {
        let mut connection = match Connection::open(server, &self.key).await {
            Ok(connection) => connection,
            Err(_) => return None,
        };
        loop {
            match self.act(&mut connection, luck).await {
                Ok(()) => self.counts.answers += 1,
                Err(Stop::Gone) => {
                    self.counts.unanswered += 1;
                    return None;
                }
                Err(Stop::Wrong(what)) => return Some(format!("caller {}: {what}", self.number)),
            }
        }
    }

    async fn act(&mut self, connection: &mut Connection, luck: &mut Stream) -> Result<(), Stop> {
        let open: Vec<usize> =
            (0..self.book.len()).filter(|&index| self.book[index].is_open()).collect();
        if open.is_empty() || (open.len() < MOST_OPEN && luck.chance(0.05)) {
            return self.open(connection).await;
        }
        let index = open[luck.below(open.len() as u64) as usize];
        match luck.below(100) {
            0..30 => self.append(connection, index, luck.chance(0.3)).await,
            30..35 => self.set_metadata(connection, index).await,
            35..55 => self.turn(connection, index).await,
            55..75 => self.execute(connection, index, luck.chance(0.2)).await,
            75..83 => self.write_file(connection, index).await,
            83..90 => self.read_file(connection, index).await,
            90..98 => self.look(connection, index).await,
            _ => self.close(connection, index).await,
        }
    }

    async fn open(&mut self, connection: &mut Connection) -> Result<(), Stop> {
        let fresh = self.fresh();
        let opening = format!("open-{}-{fresh}", self.number);
        self.book.push(Known { opening: opening.clone(), ..Known::default() });
        let answer = keyed(connection, "/v1/conversations", &opening, &json!({})).await?;
        let known = self.book.last_mut().expect("it was just added");
        text_of(&answer, "id")?.clone_into(&mut known.id);
        Ok(())
    }

    async fn append(
        &mut self,
        connection: &mut Connection,
        index: usize,
        is_keyed: bool,
    ) -> Result<(), Stop> {
        let fresh = self.fresh();
        let said = format!("caller {} says {fresh}", self.number);
        let key = is_keyed.then(|| format!("say-{}-{fresh}", self.number));
        let known = &mut self.book[index];
        let path = format!("{}/messages", known.path());
        let body = json!({ "kind": "user", "text": said });
        known.maybe_message = Some(said.clone());
        known.maybe_key.clone_from(&key);
        let answer = match &key {
            Some(key) => keyed(connection, &path, key, &body).await?,
            None => connection.json("POST", &path, &body).await?,
        };
        known.messages.insert(number_of(&answer, "sequence")?, said);
        (known.maybe_message, known.maybe_key) = (None, None);
        Ok(())
    }

    async fn set_metadata(
        &mut self,
        connection: &mut Connection,
        index: usize,
    ) -> Result<(), Stop> {
        let value = self.fresh();
        let known = &mut self.book[index];
        known.maybe_metadata = Some(value);
        let body = json!({ "metadata": { "n": value } });
        connection.json("PATCH", &known.path(), &body).await?;
        known.metadata = known.maybe_metadata.take();
        Ok(())
    }

    /// Begins a turn, or ends the one that is open.
    async fn turn(&mut self, connection: &mut Connection, index: usize) -> Result<(), Stop> {
        let known = &mut self.book[index];
        if let Some(turn) = known.open_turn {
            let path = format!("{}/turns/{turn}/end", known.path());
            // From now on nobody can say whether it is open.
            known.open_turn = None;
            connection.json("POST", &path, &json!({})).await?;
        } else {
            let answer =
                connection.json("POST", &format!("{}/turns", known.path()), &json!({})).await?;
            let turn = number_of(&answer, "turn")?;
            known.turns_begun.push(turn);
            known.open_turn = Some(turn);
        }
        Ok(())
    }

    async fn execute(
        &mut self,
        connection: &mut Connection,
        index: usize,
        is_keyed: bool,
    ) -> Result<(), Stop> {
        let fresh = self.fresh();
        let key = format!("run-{}-{fresh}", self.number);
        let known = &mut self.book[index];
        let path = format!("{}/execute", known.path());
        let body = json!({ "command": "true", "patience_seconds": 0.3 });
        let answer = if is_keyed {
            keyed(connection, &path, &key, &body).await?
        } else {
            connection.json("POST", &path, &body).await?
        };
        match answer["result"]["outcome"].as_str() {
            Some("completed") => self.counts.completed += 1,
            Some("unavailable") => self.counts.unavailable += 1,
            Some("sandbox_died") => self.counts.sandbox_died += 1,
            _ => return Err(Stop::Wrong(format!("an execute was answered {answer}"))),
        }
        if is_keyed {
            known.keyed_execute = Some((key, body, answer));
        }
        Ok(())
    }

    async fn write_file(&mut self, connection: &mut Connection, index: usize) -> Result<(), Stop> {
        let fresh = self.fresh();
        let content = format!("caller {} wrote {fresh}", self.number);
        let known = &mut self.book[index];
        let path = format!("{}/files?path={FILE}&patience_seconds=0.3", known.path());
        // Until it is answered the old content or the new one may be there.
        known.file = None;
        let answer = call(connection, "PUT", &path, content.clone()).await?;
        if answer.0 == 200 && answer.1["outcome"] == "done" {
            let last = known.messages.keys().next_back().copied().unwrap_or(0);
            known.file = Some((content, last));
        }
        Ok(())
    }

    /// What was written is there, or its loss stands in the history.
    async fn read_file(&mut self, connection: &mut Connection, index: usize) -> Result<(), Stop> {
        let known = &mut self.book[index];
        let Some((content, last)) = known.file.clone() else { return Ok(()) };
        let path = format!("{}/files?path={FILE}&patience_seconds=0.3", known.path());
        let (status, body) = connection.call("GET", &path, &[], bytes::Bytes::new()).await?;
        let text = String::from_utf8_lossy(&body).into_owned();
        if status == 200 && text == content {
            self.counts.files_intact += 1;
            return Ok(());
        }
        if status == 200 && text.contains("\"unavailable\"") {
            return Ok(());
        }
        if status != 404 {
            return Err(Stop::Wrong(format!("a file was read as {status} {text:?}")));
        }
        known.file = None;
        self.counts.files_lost += 1;
        let path = format!("{}/messages?limit=1000&after={last}", known.path());
        let page = connection.json("GET", &path, &json!({})).await?;
        let items = page["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        if items.iter().any(|message| message["kind"] == "notice") {
            return Ok(());
        }
        Err(Stop::Wrong(format!("a file of {} is gone and nothing says so", known.id)))
    }

    /// Looks at events and keeps what it was shown.
    async fn look(&mut self, connection: &mut Connection, index: usize) -> Result<(), Stop> {
        let known = &mut self.book[index];
        let after = known.events.keys().next_back().copied().unwrap_or(0);
        let path = format!("{}/events?limit=1000&after={after}", known.path());
        let page = connection.json("GET", &path, &json!({})).await?;
        for event in page["items"].as_array().into_iter().flatten() {
            let kind = text_of(event, "kind")?.to_owned();
            known.events.insert(number_of(event, "sequence")?, kind);
        }
        Ok(())
    }

    async fn close(&mut self, connection: &mut Connection, index: usize) -> Result<(), Stop> {
        let known = &mut self.book[index];
        known.closing = true;
        let path = format!("{}?cancel=true", known.path());
        connection.json("DELETE", &path, &json!({})).await?;
        known.is_closed = true;
        known.open_turn = None;
        Ok(())
    }
}

/// A request under an idempotency key, whose answer must be a success.
async fn keyed(
    connection: &mut Connection,
    path: &str,
    key: &str,
    body: &Value,
) -> Result<Value, Stop> {
    let headers = [("idempotency-key", key)];
    let (status, answer) = connection.call("POST", path, &headers, body.to_string().into()).await?;
    if !(200..300).contains(&status) {
        let text = String::from_utf8_lossy(&answer);
        return Err(Stop::Wrong(format!("POST {path} was answered {status}: {text}")));
    }
    serde_json::from_slice(&answer).map_err(|error| Stop::Wrong(error.to_string()))
}

/// A request with a body of bytes; gives the status and the JSON, or null if it is none.
async fn call(
    connection: &mut Connection,
    method: &str,
    path: &str,
    body: String,
) -> Result<(u16, Value), Stop> {
    let (status, answer) = connection.call(method, path, &[], body.into()).await?;
    if status >= 500 {
        let text = String::from_utf8_lossy(&answer);
        return Err(Stop::Wrong(format!("{method} {path} was answered {status}: {text}")));
    }
    Ok((status, serde_json::from_slice(&answer).unwrap_or(Value::Null)))
}

pub(super) fn text_of<'a>(value: &'a Value, key: &str) -> Result<&'a str, Stop> {
    value[key].as_str().ok_or_else(|| Stop::Wrong(format!("no {key:?} in {value}")))
}

pub(super) fn number_of(value: &Value, key: &str) -> Result<u64, Stop> {
    value[key].as_u64().ok_or_else(|| Stop::Wrong(format!("no {key:?} in {value}")))
}

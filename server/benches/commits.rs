//! How many commits a second the disk takes, and how long a restart reads:
//! `cargo bench -p sandpool-server --bench commits`.
//!
//! Each of the committers keeps one batch in line: a message, two events and two journal lines,
//! as an execute writes them. `TMPDIR` chooses the disk.

use sandpool_server::{
    Account, Batch, ConversationKey, EventRecord, JournalLine, Message, MessageKind,
    NewConversation, SqliteOptions, SqliteStore, Store, Write,
};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const SECONDS: u64 = 5;

/// The counters that the engine keeps; a batch takes its numbers and its place in line at once.
#[derive(Default)]
struct Counters {
    event: u64,
    line: u64,
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    println!("committers  batches/s  batches/sync  median ms  p99 ms");
    for committers in [1_u64, 8, 64, 512] {
        runtime.block_on(measure(committers));
    }
    for conversations in [1_000, 10_000, 100_000] {
        let took = runtime.block_on(restart(conversations));
        println!("{conversations} open conversations: opened and read in {took:?}");
    }
}

/// How long a restart takes until all that it needs is read.
async fn restart(conversations: u64) -> Duration {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.sqlite");
    let store = SqliteStore::open(&path, SqliteOptions::default()).expect("a store");
    let mut counters = Counters::default();
    let mut writes = opened(conversations);
    writes.extend((1..=conversations).flat_map(|number| batch(&mut counters, number, 1).writes));
    store.commit(Batch::new(writes)).await.expect("a commit");
    drop(store);
    let began = now();
    let store = SqliteStore::open(&path, SqliteOptions::default()).expect("a store");
    let kept = store.recovery().await.expect("a recovery");
    let took = began.elapsed();
    assert_eq!(kept.conversations.len() as u64, conversations);
    took
}

/// One account with this many conversations.
fn opened(conversations: u64) -> Vec<Write> {
    let account = Account { number: 0, name: "bench".to_owned(), added_ms: 0 };
    let open = |number| {
        let key = ConversationKey::from_bytes(u128::from(number).to_be_bytes());
        Write::OpenConversation(NewConversation { number, key, account: 0, opened_ms: 0 })
    };
    std::iter::once(Write::AddAccount(account)).chain((1..=conversations).map(open)).collect()
}

async fn measure(committers: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.sqlite");
    let store = Arc::new(SqliteStore::open(&path, SqliteOptions::default()).expect("a store"));
    store.commit(Batch::new(opened(committers))).await.expect("a commit");
    let counters = Arc::new(Mutex::new(Counters::default()));
    let began = now();
    let tasks: Vec<_> = (1..=committers)
        .map(|number| {
            tokio::spawn(commit(Arc::clone(&store), Arc::clone(&counters), number, began))
        })
        .collect();
    let mut waits = Vec::new();
    let mut syncs = 0.0;
    for task in tasks {
        let (took, shares) = task.await.expect("a committer");
        waits.extend(took);
        syncs += shares;
    }
    let seconds = began.elapsed().as_secs_f64();
    waits.sort_unstable();
    let at = |share: f64| waits[((waits.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "{committers:10}  {:9.0}  {:12.1}  {:9.2}  {:6.2}",
        waits.len() as f64 / seconds,
        waits.len() as f64 / syncs,
        at(0.5),
        at(0.99)
    );
}

/// How long each commit took, and the syncs that it paid for.
async fn commit(
    store: Arc<SqliteStore>,
    counters: Arc<Mutex<Counters>>,
    number: u64,
    began: Instant,
) -> (Vec<Duration>, f64) {
    let mut waits = Vec::new();
    let mut syncs = 0.0;
    for sequence in 1.. {
        let start = now();
        if start.duration_since(began) >= Duration::from_secs(SECONDS) {
            break;
        }
        let committing = {
            let mut counters = counters.lock().expect("the counters");
            let writes = batch(&mut counters, number, sequence);
            store.commit(writes)
        };
        syncs += 1.0 / committing.await.expect("a commit").shared_by as f64;
        waits.push(now().duration_since(start));
    }
    (waits, syncs)
}

fn batch(counters: &mut Counters, number: u64, sequence: u64) -> Batch {
    let mut writes = vec![Write::AppendMessage {
        conversation: number,
        message: Message {
            sequence,
            turn: 0,
            kind: MessageKind::ToolResult,
            call: None,
            at_ms: 0,
            text: "x".repeat(400),
        },
    }];
    for step in 0..2 {
        counters.event += 1;
        writes.push(Write::AppendEvent(EventRecord {
            sequence: counters.event,
            account: Some(0),
            conversation: Some((number, 2 * sequence - 1 + step)),
            kind: "sandbox_busy".to_owned(),
            at_ms: 0,
            body: "x".repeat(250),
        }));
        counters.line += 1;
        writes.push(Write::AppendJournal(JournalLine {
            sequence: counters.line,
            epoch: 1,
            at_ns: 0,
            kind: "start_execute".to_owned(),
            body: vec![b'x'; 120],
        }));
    }
    Batch::new(writes)
}

fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "this command measures real time")]
    Instant::now()
}

//! A server that is killed at any moment has lost nothing that it acknowledged.
//!
//! `SIGKILL` ends the process, not the machine: what the kernel has taken survives it. That a
//! sync was asked for is SQLite's `synchronous = FULL`; this test is about half-done batches,
//! early answers and files left behind.

use super::fixture::{add_account, append, batch, event, line, open, open_conversation};
use sandpool_server::{MessageRange, Order, SqliteOptions, SqliteStore, Store, StoreError, Write};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const FILE: &str = "SANDPOOL_TEST_CRASH_FILE";
const SEED: &str = "SANDPOOL_TEST_SEED";
const ROUNDS: u32 = 12;
const IN_LINE: usize = 16;

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill_at_any_moment() {
    let mut seed = seed();
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    store.commit(batch([add_account(0), open_conversation(1, 0)])).await.unwrap();
    drop(store);
    let mut before = 0;
    for round in 0..ROUNDS {
        let wait = Duration::from_micros(next(&mut seed) % 120_000);
        let acknowledged = killed_after(super::fixture::file(&folder), wait).max(before);
        let store = open(&folder);
        let kept = store.recovery().await.unwrap();
        let last = kept.last_event;
        println!("round {round}: killed after {wait:?}, acknowledged {acknowledged}, kept {last}");
        assert!(last >= acknowledged, "lost: {acknowledged} acknowledged, {last} kept");
        // Nothing is half there: all three counters agree, and so do the rows.
        assert_eq!((kept.last_journal, kept.conversations[0].last_message), (last, last));
        let rows = count(&store).await;
        assert_eq!(rows, (last, last, last));
        // The killed server's file can be written at once.
        let next = last + 1;
        store.commit(numbered(next)).await.unwrap();
        before = next;
    }
    assert!(before > u64::from(ROUNDS), "the children hardly wrote anything");
}

/// A server may also be killed while it makes the file, or brings it to its format.
#[tokio::test]
async fn a_kill_while_the_file_is_made_leaves_one_that_opens() {
    let mut seed = seed();
    for round in 0..ROUNDS {
        let folder = tempfile::tempdir().unwrap();
        let mut child = start(&super::fixture::file(&folder));
        let wait = Duration::from_micros(next(&mut seed) % 40_000);
        println!("round {round}: killed after {wait:?}");
        pause(wait);
        child.kill().unwrap();
        child.wait().unwrap();
        let store = open(&folder);
        let last = store.recovery().await.unwrap().last_event;
        if last == 0 && store.recovery().await.unwrap().accounts.is_empty() {
            store.commit(batch([add_account(0), open_conversation(1, 0)])).await.unwrap();
        }
        store.commit(numbered(last + 1)).await.unwrap();
        assert_eq!(count(&store).await, (last + 1, last + 1, last + 1));
    }
}

fn seed() -> u64 {
    let seed = std::env::var(SEED).map_or_else(
        |_| {
            let mut bytes = [0; 8];
            getrandom::fill(&mut bytes).unwrap();
            u64::from_le_bytes(bytes)
        },
        |text| text.parse().unwrap(),
    );
    println!("{SEED}={seed}");
    seed
}

fn start(file: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::crash::child", "--ignored", "--nocapture"])
        .env(FILE, file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn pause(wait: Duration) {
    #[expect(clippy::disallowed_methods, reason = "a real process is killed at a real moment")]
    std::thread::sleep(wait);
}

fn numbered(n: u64) -> sandpool_server::Batch {
    batch([append(1, n), Write::AppendEvent(event(n, 0, (1, n))), Write::AppendJournal(line(n))])
}

/// Messages, events and journal lines, counted one by one.
async fn count(store: &SqliteStore) -> (u64, u64, u64) {
    let key = super::fixture::key(1);
    let (mut messages, mut events, mut lines) = (0, 0, 0);
    loop {
        let range = MessageRange { order: Order::OldestFirst, after: Some(messages), limit: 1_000 };
        let more = (
            store.messages(0, &key, range).await.unwrap().len() as u64,
            store.conversation_events(0, &key, events, 1_000).await.unwrap().len() as u64,
            store.journal(lines, 1_000).await.unwrap().len() as u64,
        );
        messages += more.0;
        events += more.1;
        lines += more.2;
        if more == (0, 0, 0) {
            return (messages, events, lines);
        }
    }
}

/// Starts a child on the file, kills it this long after its first answer, and tells the last
/// number that it acknowledged.
fn killed_after(file: PathBuf, wait: Duration) -> u64 {
    let mut child = start(&file);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut acknowledged = lines.map_while(Result::ok).filter_map(|line| {
        // The last line may be cut off: only one with its end is an answer.
        line.strip_prefix("acknowledged ")?.strip_suffix('.')?.parse::<u64>().ok()
    });
    let first = acknowledged.next().expect("the child acknowledged nothing");
    // The file is in another process's hands.
    let second = SqliteStore::open(&file, SqliteOptions::default()).map(|_| ());
    assert!(matches!(second, Err(StoreError::InUse { .. })), "{second:?}");
    // It is read on meanwhile, so that a full pipe does not stop it.
    let reader = std::thread::spawn(move || acknowledged.last().unwrap_or(first));
    pause(wait);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

/// Not a test by itself: commits numbered batches until it is killed.
#[tokio::test]
#[ignore = "started by the crash test as a process of its own"]
async fn child() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let store = SqliteStore::open(&PathBuf::from(file), SqliteOptions::default()).unwrap();
    let kept = store.recovery().await.unwrap();
    if kept.accounts.is_empty() {
        store.commit(batch([add_account(0), open_conversation(1, 0)])).await.unwrap();
    }
    let mut next = kept.last_event;
    let mut waiting = VecDeque::new();
    loop {
        while waiting.len() < IN_LINE {
            next += 1;
            waiting.push_back((next, store.commit(numbered(next))));
        }
        let (n, committing) = waiting.pop_front().unwrap();
        committing.await.unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nacknowledged {n}.").unwrap();
        out.flush().unwrap();
    }
}

/// SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

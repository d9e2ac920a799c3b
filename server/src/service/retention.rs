//! What is not needed any more is removed, a little at a time: expired idempotency records, and the
//! oldest lines of the journal.

use crate::store::{Batch, Store, StoreError, Write};
use std::sync::Arc;
use std::time::Duration;

/// So often is looked for what can go.
const EVERY: Duration = Duration::from_secs(60);

/// Lines of the journal that go in one commit: nobody waits long behind it.
const LINES_A_STEP: u64 = 5_000;

/// Removes what is not needed any more, for ever. `keep_journal_lines` 0 keeps all of them.
pub(crate) async fn retain(store: Arc<dyn Store>, keep_journal_lines: u64) {
    loop {
        let now_ms = crate::clock::wall_clock_ms();
        if let Err(error) = remove_old(store.as_ref(), keep_journal_lines, now_ms).await {
            // The engine ends when the store does; until then it is tried again.
            tracing::warn!(%error, "what is not needed any more was not removed");
        }
        tokio::time::sleep(EVERY).await;
    }
}

async fn remove_old(
    store: &dyn Store,
    keep_journal_lines: u64,
    now_ms: i64,
) -> Result<(), StoreError> {
    store.commit(Batch::new(vec![Write::ExpireIdempotent { by_ms: now_ms }])).await?;
    if keep_journal_lines == 0 {
        return Ok(());
    }
    let Some((first, last)) = store.journal_bounds().await? else { return Ok(()) };
    let keep_from = last.saturating_sub(keep_journal_lines.saturating_sub(1));
    let mut through = first;
    while through < keep_from {
        through = through.saturating_add(LINES_A_STEP).min(keep_from);
        let trim = Write::TrimJournal { through: through - 1 };
        store.commit(Batch::new(vec![trim])).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Account, JournalLine, NewIdempotent, SqliteOptions, SqliteStore};

    #[tokio::test]
    async fn the_newest_lines_stay_and_expired_answers_go() {
        let folder = tempfile::tempdir().unwrap();
        let options = SqliteOptions::default();
        let store = SqliteStore::open(&folder.path().join("store.sqlite"), options).unwrap();
        let line = |sequence| {
            let body = b"{}".to_vec();
            Write::AppendJournal(JournalLine {
                sequence,
                epoch: 1,
                at_ns: sequence,
                kind: "input".to_owned(),
                body,
            })
        };
        let keyed = |key: &str, expires_ms| {
            Write::BeginIdempotent(NewIdempotent {
                account: 0,
                key: key.to_owned(),
                request_hash: [0; 32],
                began_ms: 0,
                expires_ms,
            })
        };
        let account = Account { number: 0, name: "operator".to_owned(), added_ms: 0 };
        let mut writes = vec![Write::BeginEpoch { epoch: 1 }, Write::AddAccount(account)];
        writes.extend((1..=12_000).map(line));
        writes.extend([keyed("old", 10), keyed("new", 1_000)]);
        store.commit(Batch::new(writes)).await.unwrap();
        remove_old(&store, 0, 500).await.unwrap();
        assert_eq!(store.journal_bounds().await.unwrap(), Some((1, 12_000)), "0 keeps all");
        remove_old(&store, 100, 500).await.unwrap();
        assert_eq!(store.journal_bounds().await.unwrap(), Some((11_901, 12_000)));
        remove_old(&store, 100, 500).await.unwrap();
        assert_eq!(store.journal_bounds().await.unwrap(), Some((11_901, 12_000)));
        // Asked as of a moment at which both were valid: only what was removed is not there.
        assert!(store.idempotency(0, "old", 5).await.unwrap().is_none());
        assert!(store.idempotency(0, "new", 5).await.unwrap().is_some());
        // Numbers are not used again.
        store.commit(Batch::new(vec![line(12_001)])).await.unwrap();
    }
}

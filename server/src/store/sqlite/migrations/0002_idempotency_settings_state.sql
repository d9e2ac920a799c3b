-- Answers that may be asked for again, settings, the analysis state of a conversation, and an
-- index that finds its notices.

CREATE TABLE idempotency (
    account      INTEGER NOT NULL,
    key          TEXT NOT NULL,
    request_hash BLOB NOT NULL CHECK (length(request_hash) = 32),
    status       INTEGER,
    body         BLOB,
    expires_ms   INTEGER NOT NULL,
    PRIMARY KEY (account, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_expiry ON idempotency (expires_ms);
CREATE INDEX idempotency_in_progress ON idempotency (account, key) WHERE status IS NULL;

CREATE TABLE settings (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

ALTER TABLE conversations ADD COLUMN state TEXT NOT NULL DEFAULT '';

CREATE INDEX messages_notices ON messages (conversation, sequence) WHERE kind = 'notice';

-- Conversations and what happens in them; what the scheduler needs to go on after a restart.

-- Counters that are never reused, not even after what they counted has been removed.
CREATE TABLE store_state (
    id                INTEGER PRIMARY KEY CHECK (id = 1),
    epoch             INTEGER NOT NULL,
    last_conversation INTEGER NOT NULL,
    last_event        INTEGER NOT NULL,
    last_journal      INTEGER NOT NULL
) STRICT;
INSERT INTO store_state VALUES (1, 0, 0, 0, 0);

CREATE TABLE accounts (
    number   INTEGER PRIMARY KEY,
    name     TEXT NOT NULL UNIQUE,
    added_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
    id         TEXT NOT NULL PRIMARY KEY,
    account    INTEGER NOT NULL REFERENCES accounts (number),
    hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    label      TEXT NOT NULL,
    added_ms   INTEGER NOT NULL,
    revoked_ms INTEGER
) STRICT;
-- A look-up goes by the first bytes only; the whole hash is compared in constant time.
CREATE INDEX api_keys_by_prefix ON api_keys (substr(hash, 1, 8));
CREATE INDEX api_keys_by_account ON api_keys (account);

-- `number` is the scheduler's, `key` is the name on the wire.
CREATE TABLE conversations (
    number       INTEGER PRIMARY KEY,
    key          TEXT NOT NULL UNIQUE,
    account      INTEGER NOT NULL REFERENCES accounts (number),
    opened_ms    INTEGER NOT NULL,
    closed_ms    INTEGER,
    last_message INTEGER NOT NULL DEFAULT 0,
    last_event   INTEGER NOT NULL DEFAULT 0,
    last_turn    INTEGER NOT NULL DEFAULT 0,
    last_execute INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX conversations_by_account ON conversations (account, number);
CREATE INDEX conversations_open ON conversations (number) WHERE closed_ms IS NULL;

CREATE TABLE messages (
    conversation INTEGER NOT NULL,
    sequence     INTEGER NOT NULL,
    turn         INTEGER NOT NULL,
    kind         TEXT NOT NULL,
    call         TEXT,
    at_ms        INTEGER NOT NULL,
    text         TEXT NOT NULL,
    PRIMARY KEY (conversation, sequence)
) STRICT, WITHOUT ROWID;

CREATE TABLE turns (
    conversation INTEGER NOT NULL,
    turn         INTEGER NOT NULL,
    class        TEXT NOT NULL,
    began_ms     INTEGER NOT NULL,
    ended_ms     INTEGER,
    reason       TEXT,
    PRIMARY KEY (conversation, turn)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX one_open_turn ON turns (conversation) WHERE ended_ms IS NULL;

CREATE TABLE executes (
    conversation INTEGER NOT NULL,
    execute      INTEGER NOT NULL,
    turn         INTEGER NOT NULL,
    started_ms   INTEGER NOT NULL,
    finished_ms  INTEGER,
    outcome      TEXT,
    result       TEXT,
    PRIMARY KEY (conversation, execute)
) STRICT, WITHOUT ROWID;
CREATE INDEX executes_unresolved ON executes (conversation, execute) WHERE finished_ms IS NULL;

CREATE TABLE events (
    sequence              INTEGER PRIMARY KEY,
    account               INTEGER,
    conversation          INTEGER,
    conversation_sequence INTEGER,
    kind                  TEXT NOT NULL,
    at_ms                 INTEGER NOT NULL,
    body                  TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_by_conversation ON events (conversation, conversation_sequence)
    WHERE conversation IS NOT NULL;
CREATE INDEX events_by_account ON events (account, sequence) WHERE account IS NOT NULL;

CREATE TABLE journal (
    sequence INTEGER PRIMARY KEY,
    epoch    INTEGER NOT NULL,
    at_ns    INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    body     BLOB NOT NULL
) STRICT;

CREATE TABLE sandboxes (
    epoch        INTEGER NOT NULL,
    sequence     INTEGER NOT NULL,
    class        TEXT NOT NULL,
    provider_id  TEXT,
    conversation INTEGER,
    state        TEXT NOT NULL,
    at_ms        INTEGER NOT NULL,
    PRIMARY KEY (epoch, sequence)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX one_sandbox_a_conversation ON sandboxes (conversation)
    WHERE conversation IS NOT NULL;

CREATE TABLE intents (
    epoch            INTEGER NOT NULL,
    operation        INTEGER NOT NULL,
    verb             TEXT NOT NULL,
    sandbox_epoch    INTEGER NOT NULL,
    sandbox_sequence INTEGER NOT NULL,
    at_ms            INTEGER NOT NULL,
    PRIMARY KEY (epoch, operation)
) STRICT, WITHOUT ROWID;

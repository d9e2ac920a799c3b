-- How a conversation lost the files of its last sandbox, until it was told: a restart must not
-- swallow it.

ALTER TABLE conversations ADD COLUMN files_lost TEXT;

/** Schema 1: the append-only entries, and the tables that are derived from them. Never edited once released. */
export const migration0001 = {
  number: 1,
  name: 'entries',
  breaking: true,
  sql: `
CREATE TABLE entries (
  seq INTEGER PRIMARY KEY CHECK (seq > 0),
  at TEXT NOT NULL,
  actor TEXT NOT NULL CHECK (actor <> ''),
  incident TEXT,
  host TEXT,
  instance TEXT,
  step TEXT,
  kind TEXT NOT NULL,
  data TEXT NOT NULL,
  prev_hash TEXT NOT NULL CHECK (length(prev_hash) = 64),
  hash TEXT NOT NULL CHECK (length(hash) = 64)
) STRICT;

CREATE INDEX entries_by_incident ON entries (incident) WHERE incident IS NOT NULL;
CREATE INDEX entries_by_instance ON entries (instance) WHERE instance IS NOT NULL;
CREATE INDEX entries_by_host ON entries (host) WHERE host IS NOT NULL;
CREATE INDEX entries_by_kind ON entries (kind);

CREATE TRIGGER entries_never_change BEFORE UPDATE ON entries
BEGIN SELECT raise(ABORT, 'a journal entry never changes'); END;

CREATE TRIGGER entries_never_go BEFORE DELETE ON entries
BEGIN SELECT raise(ABORT, 'a journal entry is never deleted'); END;

-- Also stops INSERT OR REPLACE, which would delete without asking the trigger above.
CREATE TRIGGER entries_follow_each_other BEFORE INSERT ON entries
WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM entries)
  OR NEW.prev_hash <> coalesce((SELECT hash FROM entries ORDER BY seq DESC LIMIT 1), printf('%064d', 0))
BEGIN SELECT raise(ABORT, 'a journal entry must follow the last one'); END;

CREATE TABLE incidents (
  id TEXT PRIMARY KEY,
  host TEXT NOT NULL,
  segment TEXT NOT NULL,
  mode TEXT NOT NULL,
  phase TEXT NOT NULL,
  opened_at TEXT NOT NULL,
  opened_by TEXT NOT NULL,
  workflow_digest TEXT NOT NULL,
  held_code TEXT,
  held_message TEXT,
  held_since TEXT,
  proof_method TEXT,
  proof_strength TEXT,
  closed_at TEXT,
  outcome TEXT,
  message TEXT,
  last_seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX incidents_by_age ON incidents (opened_at);

CREATE TABLE instances (
  incident TEXT NOT NULL,
  instance TEXT NOT NULL,
  name TEXT NOT NULL,
  project TEXT NOT NULL,
  rule TEXT NOT NULL,
  decision TEXT NOT NULL,
  reason TEXT NOT NULL,
  expected TEXT,
  recipe TEXT,
  round INTEGER NOT NULL,
  debts INTEGER NOT NULL,
  outcome TEXT,
  code TEXT,
  message TEXT,
  landed_on TEXT,
  last_seq INTEGER NOT NULL,
  PRIMARY KEY (incident, instance)
) STRICT, WITHOUT ROWID;

CREATE INDEX instances_by_instance ON instances (instance);

-- instance '' holds the steps of the host itself.
CREATE TABLE steps (
  incident TEXT NOT NULL,
  instance TEXT NOT NULL,
  step TEXT NOT NULL,
  kind TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  status TEXT NOT NULL,
  request_id TEXT,
  error_code TEXT,
  intended_at TEXT NOT NULL,
  ended_at TEXT,
  last_seq INTEGER NOT NULL,
  PRIMARY KEY (incident, instance, step)
) STRICT, WITHOUT ROWID;
`,
} as const

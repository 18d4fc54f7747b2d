/**
 * The derived tables `incidents`, `instances`, `steps`: what listings need, kept up to date in the transaction that appends.
 * They hold nothing that the entries do not say; `rebuild` makes them again. The rules are those of domain/incident.ts
 * (a test holds the two against each other), so a row here is never a second opinion.
 */
import type Database from 'better-sqlite3'
import type { Entry, EntryKind } from '../domain/entry.ts'

export interface Derivation {
  /** Brings the tables up to date with one entry. Must run inside the transaction that wrote it. */
  apply(entry: Entry): void
  /** Empties the tables; the caller then applies every entry again. */
  clear(): void
}

type Rule<K extends EntryKind> = (entry: Extract<Entry, { kind: K }>) => unknown
type Rules = { [K in EntryKind]?: Rule<K> }

/** Prepares the statements once. */
export function derivation(db: Database.Database): Derivation {
  const rules: Rules = { ...incidentRules(db), ...instanceRules(db), ...stepRules(db) }
  const touch = db.prepare('UPDATE incidents SET last_seq = ? WHERE id = ?')
  return {
    apply: (entry) => {
      if (entry.incident === null) return
      const rule = rules[entry.kind] as Rule<EntryKind> | undefined
      rule?.(entry)
      touch.run(entry.seq, entry.incident)
    },
    clear: () => db.exec('DELETE FROM incidents; DELETE FROM instances; DELETE FROM steps'),
  }
}

function incidentRules(db: Database.Database): Rules {
  const open = db.prepare(
    `INSERT OR REPLACE INTO incidents
       (id, host, segment, mode, phase, opened_at, opened_by, workflow_digest, last_seq)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const forget = ['instances', 'steps'].map((table) => db.prepare(`DELETE FROM ${table} WHERE incident = ?`))
  const move = db.prepare('UPDATE incidents SET segment = ? WHERE id = ?')
  const phase = db.prepare('UPDATE incidents SET phase = ? WHERE id = ?')
  const hold = db.prepare('UPDATE incidents SET held_code = ?, held_message = ?, held_since = ? WHERE id = ?')
  const prove = db.prepare('UPDATE incidents SET proof_method = ?, proof_strength = ? WHERE id = ?')
  const close = db.prepare(
    `UPDATE incidents SET phase = 'closed', held_code = NULL, held_message = NULL, held_since = NULL,
       closed_at = ?, outcome = ?, message = ? WHERE id = ?`,
  )
  return {
    'incident.opened': ({ incident, host, data, at, seq }) => {
      for (const statement of forget) statement.run(incident)
      const { segment, mode, openedBy, workflowDigest } = data
      open.run(incident, host ?? '', segment, mode, 'confirming', at, openedBy, workflowDigest, seq)
    },
    'process.failed': ({ incident, host, data, at, seq }) =>
      open.run(
        incident,
        host ?? '',
        data.segment,
        data.mode,
        'watching',
        at,
        data.openedBy,
        data.workflowDigest ?? '',
        seq,
      ),
    'instance.failed': ({ incident, host, data, at, seq }) =>
      open.run(
        incident,
        host ?? '',
        data.segment,
        data.mode,
        'restarting',
        at,
        data.openedBy,
        data.workflowDigest ?? '',
        seq,
      ),
    'incident.segment-changed': ({ incident, data }) => move.run(data.to, incident),
    'incident.phase': ({ incident, data }) => phase.run(data.to, incident),
    'incident.held': ({ incident, data, at }) => hold.run(data.code, data.message, at, incident),
    'incident.continued': ({ incident }) => hold.run(null, null, null, incident),
    'incident.closed': ({ incident, data, at }) => close.run(at, data.outcome, data.message, incident),
    'proof.recorded': ({ incident, data }) => prove.run(data.proof.method, data.proof.strength, incident),
  }
}

function instanceRules(db: Database.Database): Rules {
  const known = db.prepare('SELECT 1 FROM incidents WHERE id = ?')
  const plan = db.prepare(
    `INSERT OR REPLACE INTO instances
       (incident, instance, name, project, rule, decision, reason, expected, recipe, round, debts, last_seq)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?)`,
  )
  const forgetSteps = db.prepare('DELETE FROM steps WHERE incident = ? AND instance = ?')
  const enter = db.prepare(
    'UPDATE instances SET recipe = ?, round = round + 1, last_seq = ? WHERE incident = ? AND instance = ?',
  )
  const leftover = db.prepare(
    'UPDATE instances SET debts = debts + 1, last_seq = ? WHERE incident = ? AND instance = ?',
  )
  const clearedLeftover = db.prepare(
    'UPDATE instances SET debts = max(0, debts - 1), last_seq = ? WHERE incident = ? AND instance = ?',
  )
  const end = db.prepare(
    `UPDATE instances SET outcome = ?, code = ?, message = ?, landed_on = ?, last_seq = ?
     WHERE incident = ? AND instance = ?`,
  )
  return {
    'plan.made': ({ incident, instance, data, seq }) => {
      if (instance === null || known.get(incident) === undefined) return
      forgetSteps.run(incident, instance)
      const { name, projectId, rule, decision, reason, expected, recipe } = data
      plan.run(incident, instance, name, projectId, rule, decision, reason, expected, recipe, seq)
    },
    'recipe.entered': ({ incident, instance, data, seq }) => enter.run(data.recipe, seq, incident, instance),
    'debt.recorded': ({ incident, instance, seq }) => leftover.run(seq, incident, instance),
    'debt.settled': ({ incident, instance, seq }) => clearedLeftover.run(seq, incident, instance),
    'outcome.recorded': ({ incident, instance, data, seq }) =>
      end.run(data.outcome, data.code, data.message, data.after?.host ?? null, seq, incident, instance),
  }
}

function stepRules(db: Database.Database): Rules {
  const known = db.prepare(
    `SELECT 1 FROM incidents WHERE id = @incident AND
       (@instance = '' OR EXISTS (SELECT 1 FROM instances WHERE incident = @incident AND instance = @instance))`,
  )
  const intend = db.prepare(
    `INSERT OR REPLACE INTO steps (incident, instance, step, kind, attempt, status, intended_at, last_seq)
     VALUES (?, ?, ?, ?, ?, 'intended', ?, ?)`,
  )
  const where = 'WHERE incident = ? AND instance = ? AND step = ?'
  const issue = db.prepare(`UPDATE steps SET status = 'issued', request_id = ?, last_seq = ? ${where}`)
  const end = db.prepare(`UPDATE steps SET status = ?, error_code = ?, ended_at = ?, last_seq = ? ${where}`)
  return {
    'step.intended': ({ incident, instance, step, data, at, seq }) => {
      if (step === null || known.get({ incident, instance: instance ?? '' }) === undefined) return
      intend.run(incident, instance ?? '', step, data.kind, data.attempt, at, seq)
    },
    'step.issued': ({ incident, instance, step, data, seq }) =>
      issue.run(data.requestId, seq, incident, instance ?? '', step),
    'step.confirmed': ({ incident, instance, step, at, seq }) =>
      end.run('confirmed', null, at, seq, incident, instance ?? '', step),
    'step.failed': ({ incident, instance, step, data, at, seq }) =>
      end.run('failed', data.error.code, at, seq, incident, instance ?? '', step),
  }
}

/** Quick listings from the derived tables: what `incident list` and the pages show without folding every entry. */
import type Database from 'better-sqlite3'
import type { HoldCode, IncidentPhase } from '../domain/incident-phases.ts'
import type { OutcomeKind } from '../domain/outcome.ts'

export interface IncidentLine {
  id: string
  host: string
  process: string | null
  /** The instance that crashed; null: something else failed. */
  crashed: { instance: string; name: string; event: string } | null
  segment: string
  mode: 'observe' | 'armed'
  phase: IncidentPhase
  openedAt: string
  openedBy: string
  workflowDigest: string
  heldCode: HoldCode | null
  heldMessage: string | null
  heldSince: string | null
  proofMethod: string | null
  proofStrength: string | null
  closedAt: string | null
  outcome: string | null
  message: string | null
  /** When the last of its instances got a line, or was last heard of; null without instances. */
  lastLineAt: string | null
  /** Instances by how they ended; `open` are those that have no outcome yet. */
  instances: Record<OutcomeKind | 'open', number>
}

export interface IncidentQuery {
  host?: string
  openOnly?: boolean
  /** Only those whose id or host has this in it, whatever the case. */
  text?: string
  /** Only those that this instance was in. */
  instance?: string
  /** Only those that are over, armed, with instances that did not come back, and that nobody has signed off. */
  unreviewed?: boolean
  /** Default 100. */
  limit?: number
}

type Counts = Pick<IncidentLine, 'lastLineAt' | 'instances'>
type IncidentColumns = Omit<IncidentLine, keyof Counts | 'crashed'> & { lastSeq: number; crashed: string | null }
type CountColumns = Pick<IncidentLine, 'lastLineAt'> & IncidentLine['instances']

const incidentSql = `
SELECT id, host, failed.process AS process, failed.crashed AS crashed, segment, mode, phase, opened_at AS openedAt, opened_by AS openedBy,
  workflow_digest AS workflowDigest, held_code AS heldCode, held_message AS heldMessage, held_since AS heldSince,
  proof_method AS proofMethod, proof_strength AS proofStrength, closed_at AS closedAt, outcome, message,
  last_seq AS lastSeq
FROM incidents LEFT JOIN (
  SELECT incident, json_extract(data, '$.process') AS process,
    CASE kind WHEN 'instance.failed' THEN json_object('instance', instance,
      'name', json_extract(data, '$.name'), 'event', json_extract(data, '$.event')) END AS crashed
  FROM entries INDEXED BY entries_by_kind WHERE kind IN ('process.failed', 'instance.failed')
) AS failed ON failed.incident = id
WHERE (@host IS NULL OR host = @host)
  AND (@text IS NULL OR instr(lower(id), @text) > 0 OR instr(lower(host), @text) > 0)
  AND (@instance IS NULL OR id IN (SELECT incident FROM instances WHERE instance = @instance)) AND (@openOnly = 0 OR phase <> 'closed') AND (@unreviewed = 0 OR (
  phase = 'closed' AND mode = 'armed'
  AND id NOT IN (SELECT incident FROM entries WHERE kind = 'review.signed-off' AND incident IS NOT NULL)
  AND EXISTS (SELECT 1 FROM instances WHERE incident = incidents.id AND outcome IN ('left', 'failed', 'stuck'))))
ORDER BY opened_at DESC, id DESC LIMIT @limit`

const countSql = `
SELECT recovered, "left", failed, stuck, open, (SELECT at FROM entries WHERE seq = lastLineSeq) AS lastLineAt FROM (
  SELECT count(*) FILTER (WHERE outcome = 'recovered') AS recovered,
    count(*) FILTER (WHERE outcome = 'left') AS "left",
    count(*) FILTER (WHERE outcome = 'failed') AS failed,
    count(*) FILTER (WHERE outcome = 'stuck') AS stuck,
    count(*) FILTER (WHERE outcome IS NULL) AS open, max(last_seq) AS lastLineSeq
  FROM instances WHERE incident = ?
)`

/** Counts kept, some 200 bytes each. Fewer than the incidents of a list, and each list counts their instances again. */
const countsKept = 10_000

/**
 * A prepared listing, newest incident first. Instances are counted once for each newest entry of an incident: what is over
 * costs a list nothing, however many instances it had.
 */
export function incidentListing(db: Database.Database): (query?: IncidentQuery) => IncidentLine[] {
  const lines = db.prepare<[Record<string, unknown>], IncidentColumns>(incidentSql)
  const count = db.prepare<[string], CountColumns>(countSql)
  const known = new Map<string, { lastSeq: number; counts: Counts }>()
  const countsOf = (id: string, lastSeq: number): Counts => {
    const kept = known.get(id)
    if (kept?.lastSeq === lastSeq) return kept.counts
    const { lastLineAt = null, ...instances } = count.get(id) ?? { recovered: 0, left: 0, failed: 0, stuck: 0, open: 0 }
    const counts = { lastLineAt, instances }
    known.delete(id)
    known.set(id, { lastSeq, counts })
    if (known.size > countsKept) known.delete(known.keys().next().value ?? '')
    return counts
  }
  return ({ host, text, instance, openOnly, unreviewed, limit } = {}) =>
    lines
      .all({
        host: host ?? null,
        text: text?.toLowerCase() ?? null,
        instance: instance ?? null,
        openOnly: Number(openOnly ?? false),
        unreviewed: Number(unreviewed ?? false),
        limit: limit ?? 100,
      })
      .map(({ lastSeq, crashed, ...line }) => ({
        ...line,
        crashed: crashed === null ? null : (JSON.parse(crashed) as IncidentLine['crashed']),
        ...copied(countsOf(line.id, lastSeq)),
      }))
}

/** What is kept stays ours: who gets a line may change it. */
function copied({ lastLineAt, instances }: Counts): Counts {
  return { lastLineAt, instances: { ...instances } }
}

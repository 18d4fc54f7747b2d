/** Quick listings from the derived tables: what `incident list` and the pages show without folding every entry. */
import type Database from 'better-sqlite3'
import type { HoldCode, IncidentPhase } from '../domain/incident-phases.ts'
import type { OutcomeKind } from '../domain/outcome.ts'

export interface IncidentLine {
  id: string
  host: string
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
  /** Instances by how they ended; `open` are those that have no line yet. */
  instances: Record<OutcomeKind | 'open', number>
}

export interface IncidentQuery {
  host?: string
  openOnly?: boolean
  /** Default 100. */
  limit?: number
}

type IncidentColumns = Omit<IncidentLine, 'instances'> &
  Record<OutcomeKind | 'open', number> & { lastLineSeq: number | null }

const incidentSql = `
SELECT counted.*, (SELECT at FROM entries WHERE seq = counted.lastLineSeq) AS lastLineAt FROM (
SELECT i.id, i.host, i.segment, i.mode, i.phase, i.opened_at AS openedAt, i.opened_by AS openedBy,
  i.workflow_digest AS workflowDigest, i.held_code AS heldCode, i.held_message AS heldMessage, i.held_since AS heldSince,
  i.proof_method AS proofMethod, i.proof_strength AS proofStrength, i.closed_at AS closedAt, i.outcome, i.message,
  count(n.instance) FILTER (WHERE n.outcome = 'recovered') AS recovered,
  count(n.instance) FILTER (WHERE n.outcome = 'left') AS "left",
  count(n.instance) FILTER (WHERE n.outcome = 'failed') AS failed,
  count(n.instance) FILTER (WHERE n.outcome = 'stuck') AS stuck,
  count(n.instance) FILTER (WHERE n.outcome IS NULL) AS open, max(n.last_seq) AS lastLineSeq
FROM (
  SELECT * FROM incidents
  WHERE (@host IS NULL OR host = @host) AND (@openOnly = 0 OR phase <> 'closed')
  ORDER BY opened_at DESC, id DESC LIMIT @limit
) AS i LEFT JOIN instances AS n ON n.incident = i.id
GROUP BY i.id
) AS counted ORDER BY counted.openedAt DESC, counted.id DESC`

/** A prepared listing, newest incident first. */
export function incidentListing(db: Database.Database): (query?: IncidentQuery) => IncidentLine[] {
  const statement = db.prepare<[Record<string, unknown>], IncidentColumns>(incidentSql)
  return ({ host, openOnly, limit } = {}) =>
    statement.all({ host: host ?? null, openOnly: Number(openOnly ?? false), limit: limit ?? 100 }).map((row) => {
      const { recovered, left, failed, stuck, open, lastLineSeq: _seq, ...line } = row
      return { ...line, instances: { recovered, left, failed, stuck, open } }
    })
}

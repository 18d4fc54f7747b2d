/**
 * The shared store in MariaDB Galera, by single autocommitted statements alone. Galera certifies the keys of changed rows, so the primary key
 * decides who wins; locks and transactions over several round trips decide nothing. Four lanes, so that a large batch never delays a renewal, and
 * no commit that stands still delays a look.
 */
import type { ResultSetHeader, RowDataPacket } from 'mysql2'
import type { Clock } from '../../domain/clock.ts'
import { Lane, type Ask, type LaneParts } from './lane.ts'
import { membershipOf, wordOf, type Word } from './membership.ts'
import { Nodes, type Node } from './nodes.ts'
import { OneCluster, type ClusterEvent } from './one-cluster.ts'
import { StoreTrouble, type DaemonRow, type Inserted, type Look, type SharedRow, type SharedStore } from './store.ts'
import type { TenureRow } from './store.ts'
import type { Tls } from './tls.ts'
import { isClosed, isDuplicate } from './trouble.ts'

/** Longer: a node that hangs delays a recovery that much. Shorter: an ordinary slow commit moves every lane to another node. */
const defaultStatementLimitMs = 3_000
const defaultConnectLimitMs = 1_000
/** For the tenure's row, which a node that serves has at once. Longer: who waits for a lease sees the last renewal later, and waits that much longer. */
const lookLimitMs = 1_000
/** For what a node says of its cluster, within the time for a connection to another one. Shorter: a loaded node seems to be away. */
const wordLimitMs = 500

export interface MariadbOptions {
  /** Each lane begins at the first: a cluster works best with one writer. */
  nodes: readonly Node[]
  user: string
  password: string
  database: string
  /** Null: no TLS. */
  tls: Tls | null
  clock: Clock
  statementLimitMs?: number
  connectLimitMs?: number
  /** Called for each node that is not used, and when a cluster has ended. Default: not called. */
  toldOfCluster?: (event: ClusterEvent) => void
}

/** Connects when it is first asked. Must be closed, or its connections keep the process alive. */
export function mariadbStore(options: MariadbOptions): SharedStore {
  const plain = laneParts(options)
  const { nodes, clock, toldOfCluster: told = () => undefined } = options
  const cluster = new OneCluster({
    ...{ nodes, clock },
    ask: (node) => wordOfNode(node, plain),
    told: (event) => {
      // No lane goes on in the one before, as behind a load balancer it could.
      if (event.kind === 'moved') plain.nodes.connectAnew()
      told(event)
    },
  })
  const parts: LaneParts = { ...plain, admit: (node, ask) => cluster.admit(node, ask) }
  const inserts = new Lane(parts)
  const renewals = new Lane(parts)
  const looks = new Lane(parts)
  const reports = new Lane(parts)
  const changes = (sql: string, values: readonly unknown[]): Promise<boolean> =>
    renewals.run(async (ask, node) => {
      const { affectedRows } = await ask<ResultSetHeader>(sql, values)
      if (affectedRows === 0) await mustReplicate(ask, node, cluster)
      return affectedRows > 0
    })
  return {
    insert: (after, rows) =>
      inserts.run(async (ask, node) => {
        const end = await insert(ask, after, rows)
        if (end === 'nothing') await mustReplicate(ask, node, cluster)
        return end
      }),
    renew: (epoch, holder) => changes(renewSql, [epoch, holder]),
    take: (seen, next) => changes(takeSql, [next.epoch, next.holder, next.format, seen.epoch, seen.beat]),
    release: (epoch, holder) => changes(releaseSql, [epoch, holder]),
    look: (seq, limit) => look(looks, seq, limit, cluster),
    // After an insert whose answer is in doubt, and before the next one: nothing waits behind it.
    hashAt: (seq) => inserts.run((ask) => hashAt(ask, seq)),
    report: (row) => reports.run((ask) => report(ask, row)),
    daemons: () => reports.run(daemons),
    close: () => {
      for (const lane of [inserts, renewals, looks, reports]) lane.close()
      return Promise.resolve()
    },
  }
}

/**
 * Of the server and of this connection, which has the setting that the server had when it was made. Every statement that others rely on writes where
 * it is so alone: a connection may be older than the moment in which its node stopped to replicate.
 */
const replicates = '@@GLOBAL.wsrep_on AND @@SESSION.wsrep_on'

/** After a statement that changed nothing, for that may be why. Throws StoreTrouble. */
async function mustReplicate(ask: Ask, node: Node, cluster: OneCluster): Promise<void> {
  const [row] = await ask<Rows<{ replicates: number }>>(`SELECT ${replicates} AS replicates`)
  if (row?.replicates === 0) throw cluster.alone(node)
}

/** On a connection of its own, beside those that wait for the answer. */
async function wordOfNode(node: Node, parts: LaneParts): Promise<Word> {
  const limits = { connectLimitMs: wordLimitMs, statementLimitMs: wordLimitMs }
  const lane = new Lane({ ...parts, ...limits, nodes: new Nodes([node]), settings: [] })
  try {
    return wordOf(await lane.run(membershipOf))
  } catch (thrown) {
    if (!(thrown instanceof StoreTrouble)) throw thrown
    return isClosed(thrown.cause) ? 'closed' : 'unknown'
  } finally {
    lane.close()
  }
}

/** How each connection is made. */
export function laneParts({ nodes, clock, tls, ...options }: MariadbOptions): LaneParts {
  const { user, password, database } = options
  const { connectLimitMs = defaultConnectLimitMs, statementLimitMs = defaultStatementLimitMs } = options
  return {
    ...{ nodes: new Nodes(nodes), tls, clock, connectLimitMs, statementLimitMs, settings },
    access: {
      ...{ user, password, database },
      charset: 'utf8mb4',
      // Changed rows are counted, not found ones.
      flags: ['-FOUND_ROWS'],
      // As they stand: made into a Date they would be read as local time.
      dateStrings: true,
    },
  }
}

/**
 * What a server may have been told otherwise for all clients. A row that another client locks is waited for one second, and then the statement is
 * sent again. Strict, so that nothing is cut to fit its column, and so that a backslash is what the driver takes it for.
 */
const settings: readonly string[] = [
  'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ',
  "SET SESSION autocommit = 1, innodb_lock_wait_timeout = 1, wsrep_sync_wait = 0, sql_mode = 'STRICT_ALL_TABLES'",
]

/** `nothing` also where the node does not replicate. Each row has the guard, for only so is the whole statement written or none of it. */
async function insert(ask: Ask, after: { seq: number; hash: string }, rows: readonly SharedRow[]): Promise<Inserted> {
  const isFirst = after.seq === 0
  const follows = isFirst ? '' : ' AND EXISTS (SELECT 1 FROM entries WHERE seq = ? AND hash = ?)'
  const row = `SELECT ?, ?, ? FROM DUAL WHERE ${replicates}${follows}`
  const guard = isFirst ? [] : [after.seq, after.hash]
  const values = rows.flatMap(({ seq, hash, body }) => [seq, hash, Buffer.from(body, 'utf8'), ...guard])
  const sql = `INSERT INTO entries (seq, hash, body) ${rows.map(() => row).join(' UNION ALL ')}`
  try {
    const { affectedRows } = await ask<ResultSetHeader>(sql, values)
    return affectedRows === 0 ? 'nothing' : 'inserted'
  } catch (thrown) {
    if (isDuplicate(thrown)) return 'taken'
    throw thrown
  }
}

const renewSql = `UPDATE tenure SET beat = beat + 1, at = UTC_TIMESTAMP(3)
  WHERE id = 1 AND epoch = ? AND holder = ? AND ${replicates}`
const takeSql = `UPDATE tenure SET epoch = ?, beat = 0, holder = ?, format = ?, at = UTC_TIMESTAMP(3)
  WHERE id = 1 AND epoch = ? AND beat = ? AND ${replicates}`
const releaseSql = `UPDATE tenure SET holder = '', at = UTC_TIMESTAMP(3)
  WHERE id = 1 AND epoch = ? AND holder = ? AND ${replicates}`

// MariaDB gives the result of COALESCE as text, as it does DECIMAL.
const tenureSql = `SELECT epoch, beat, holder, format, cloud, ${replicates} AS replicates,
  (SELECT CAST(COALESCE(MAX(seq), 0) AS UNSIGNED) FROM entries) AS newest FROM tenure WHERE id = 1`
const entriesSql = 'SELECT seq, hash, body FROM entries WHERE seq > ? ORDER BY seq LIMIT ?'

type Rows<T> = (T & RowDataPacket)[]
type StoredEntry = Omit<SharedRow, 'body'> & { body: Buffer }

/** Its tables are there, so the script of `journal init` stops at the first. */
const noTenure =
  'The table tenure has no row. Drop the tables entries, tenure and daemons and make them again (lifeboat journal init): the copies put the entries back'

async function look(lane: Lane, seq: number, limit: number, cluster: OneCluster): Promise<Look> {
  const found = await lane.run(async (ask, node) => {
    const [row] = await ask<Rows<TenureRow & { newest: number; replicates: number }>>(tenureSql)
    if (row?.replicates === 0) throw cluster.alone(node)
    return row
  }, lookLimitMs)
  if (found === undefined) throw new StoreTrouble('refused', noTenure, { maybeDone: false })
  const { newest, replicates: _replicates, ...tenure } = found
  const isNews = newest > seq && limit > 0
  const stored = isNews ? await lane.run((ask) => ask<Rows<StoredEntry>>(entriesSql, [seq, limit])) : []
  const rows = inOrder(stored, seq).map(({ body, ...row }) => ({ ...row, body: body.toString('utf8') }))
  // Between the two statements entries may have come.
  return { tenure, rows, newest: Math.max(newest, rows.at(-1)?.seq ?? 0) }
}

/** Up to the first hole: what stands behind one does not follow from what is known. */
function inOrder<T extends { seq: number }>(rows: readonly T[], after: number): T[] {
  const hole = rows.findIndex(({ seq }, index) => seq !== after + index + 1)
  return hole < 0 ? [...rows] : rows.slice(0, hole)
}

/** The node first applies what the group has committed. */
async function hashAt(ask: Ask, seq: number): Promise<string | null> {
  const sql = 'SET STATEMENT wsrep_sync_wait = 1 FOR SELECT hash FROM entries WHERE seq = ?'
  const [found] = await ask<Rows<{ hash: string }>>(sql, [seq])
  return found?.hash ?? null
}

const reportSql = `INSERT INTO daemons
  (name, address, version, mode, config_digest, copied_seq, good_poll_age_ms, beat, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON DUPLICATE KEY UPDATE address = VALUES(address), version = VALUES(version), mode = VALUES(mode),
  config_digest = VALUES(config_digest), copied_seq = VALUES(copied_seq), good_poll_age_ms = VALUES(good_poll_age_ms),
  beat = VALUES(beat), at = VALUES(at)`

/** The largest INT; older is no news to anyone. */
const longestAgeMs = 2_147_483_647

async function report(ask: Ask, row: DaemonRow): Promise<void> {
  const { name, address, version, mode, configDigest, copiedSeq, goodPollAgeMs, beat, at } = row
  const age = goodPollAgeMs === null ? null : Math.min(Math.round(goodPollAgeMs), longestAgeMs)
  const stamp = new Date(at).toISOString().replace('T', ' ').replace('Z', '')
  await ask(reportSql, [name, address, version, mode, configDigest, copiedSeq, age, beat, stamp])
}

const daemonsSql = `SELECT name, address, version, mode, config_digest AS configDigest, copied_seq AS copiedSeq,
  good_poll_age_ms AS goodPollAgeMs, beat, at FROM daemons ORDER BY name`

async function daemons(ask: Ask): Promise<DaemonRow[]> {
  const rows = await ask<Rows<DaemonRow>>(daemonsSql)
  return rows.map(({ at, ...row }) => ({ ...row, at: `${at.replace(' ', 'T')}Z` }))
}

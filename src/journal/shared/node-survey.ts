/** What `lifeboat check` asks one node of a shared journal's cluster. Reads only, with the daemons' account, on a connection of its own. */
import type { RowDataPacket } from 'mysql2'
import { LifeboatError } from '../../domain/errors.ts'
import type { SharedNode, SharedSchema } from '../../domain/shared-node.ts'
import { Lane, type Ask } from './lane.ts'
import { laneParts, type MariadbOptions } from './mariadb.ts'
import { membershipOf } from './membership.ts'
import type { Node } from './nodes.ts'
import { heldRights, holds, missingRights, needlessRights } from './rights.ts'
import { StoreTrouble } from './store.ts'
import { primaryKeys, quoted, tableNames } from './tables.ts'
import { serverNumber } from './trouble.ts'

/** A loaded server takes longer to list rights than to commit. */
const limitMs = 5_000

/** Throws JOURNAL_UNAVAILABLE, with the server's `number`, when the node does not answer or does not let the account in. */
export async function surveyNode(node: Node, options: Omit<MariadbOptions, 'nodes'>): Promise<SharedNode> {
  const lane = new Lane(laneParts({ ...options, nodes: [node], statementLimitMs: limitMs }))
  try {
    return await lane.run((ask) => survey(ask, options.database))
  } catch (thrown) {
    if (!(thrown instanceof StoreTrouble)) throw thrown
    const details = { number: serverNumber(thrown.cause) }
    throw new LifeboatError('JOURNAL_UNAVAILABLE', thrown.message, { retry: 'after', cause: thrown.cause, details })
  } finally {
    lane.close()
  }
}

async function survey(ask: Ask, database: string): Promise<SharedNode> {
  const galera = await membershipOf(ask)
  const variables = await named(ask, ['version', 'innodb_flush_log_at_trx_commit', 'max_allowed_packet'])
  return {
    version: variables.get('version') ?? '',
    galera,
    flushAtCommit: Number(variables.get('innodb_flush_log_at_trx_commit')),
    largestPacket: Number(variables.get('max_allowed_packet')),
    // In a minority every statement about tables is refused.
    schema: galera?.ready === false ? null : await schema(ask, database),
  }
}

type Rows<T> = (T & RowDataPacket)[]

async function named(ask: Ask, names: readonly string[]): Promise<Map<string, string>> {
  const sql = 'SHOW GLOBAL VARIABLES WHERE Variable_name IN (?)'
  const rows = await ask<Rows<{ Variable_name: string; Value: string }>>(sql, [names])
  return new Map(rows.map(({ Variable_name: name, Value: value }) => [name.toLowerCase(), value]))
}

async function schema(ask: Ask, database: string): Promise<SharedSchema> {
  const [who] = await ask<Rows<{ account: string }>>('SELECT CURRENT_USER() AS account')
  const account = who?.account ?? ''
  const tables = await ask<Rows<{ name: string; engine: string }>>(
    'SELECT TABLE_NAME AS name, ENGINE AS engine FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()',
  )
  const engines = new Map(tables.map(({ name, engine }) => [name, engine]))
  const keyed = await ask<Rows<{ name: string; key: string }>>(
    "SELECT TABLE_NAME AS name, GROUP_CONCAT(COLUMN_NAME) AS 'key' FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND COLUMN_KEY = 'PRI' GROUP BY TABLE_NAME",
  )
  const keys = new Map(keyed.map(({ name, key }) => [name, key]))
  const own = await grants(ask)
  const held = heldRights(own, database)
  const readsTenure = engines.has('tenure') && holds(held, 'tenure', 'SELECT')
  const cloud = readsTenure ? await cloudOf(ask) : null
  const reachable = heldRights([...own, ...(await roleGrants(ask))], database)
  return {
    account,
    missingTables: tableNames.filter((table) => !engines.has(table)),
    unreplicated: tableNames.flatMap((table) => {
      const engine = engines.get(table)
      return engine === undefined || engine === 'InnoDB' ? [] : [`${table} (${engine})`]
    }),
    wronglyKeyed: tableNames.filter((table) => engines.has(table) && keys.get(table) !== primaryKeys[table]),
    cloud,
    missingRights: missingRights(held),
    needlessRights: needlessRights(reachable),
  }
}

async function cloudOf(ask: Ask): Promise<string> {
  const [row] = await ask<Rows<{ cloud: string }>>('SELECT cloud FROM tenure WHERE id = 1')
  return row?.cloud ?? ''
}

/** Of each role that the account may take. A statement on this connection alone: the role that it takes is gone with it. */
async function roleGrants(ask: Ask): Promise<string[]> {
  const roles = await ask<Rows<{ name: string }>>(
    'SELECT DISTINCT ROLE_NAME AS name FROM information_schema.APPLICABLE_ROLES WHERE ROLE_NAME IS NOT NULL',
  )
  const found: string[] = []
  for (const { name } of roles) {
    await ask(`SET ROLE ${quoted(name)}`)
    found.push(...(await grants(ask)))
  }
  return found
}

/** The server's words are never passed on: they hold hashes of passwords. */
async function grants(ask: Ask): Promise<string[]> {
  const rows = await ask<RowDataPacket[]>('SHOW GRANTS')
  return rows.flatMap((row) => Object.values(row).map(String))
}

/** What `lifeboat check` says of a journal that several daemons share: each node, the cluster, the tables, the account's rights. Reads only. */
import type { CheckLine } from './check-lines.ts'
import type { Config } from '../config/index.ts'
import { ensureError, type LifeboatError } from '../domain/errors.ts'
import type { SharedNode, SharedSchema } from '../domain/shared-node.ts'
import { fail, ok, skip, warn } from './check-lines.ts'

export type Sharing = NonNullable<Config['sharedJournal']>
type Address = Sharing['nodes'][number]

/** Asks one node. Throws JOURNAL_UNAVAILABLE, CONFIG_INVALID. */
export type LookAtNode = (sharing: Sharing, node: Address) => Promise<SharedNode>

/** A statement may be as large as the largest entry. */
const leastPacket = 16 * 1024 * 1024

const what = 'shared journal'
const makeIt = 'lifeboat journal init prints what an administrator executes once'

/** @param cloud the auth URL that the daemon uses; null: it cannot be told */
export async function* sharedJournalLines(
  sharing: Sharing,
  cloud: string | null,
  lookAtNode: LookAtNode,
): AsyncGenerator<CheckLine> {
  const looks = sharing.nodes.map(async (address) => ({ address, found: await tried(lookAtNode(sharing, address)) }))
  const answered: { name: string; node: SharedNode }[] = []
  for (const look of looks) {
    const { address, found } = await look
    const name = `${what} at ${address.host}:${address.port}`
    if ('problem' in found && isWithoutDatabase(found.problem))
      yield fail(name, found.problem, `The password is right, the database or its rights are missing: ${makeIt}`)
    else if ('problem' in found)
      yield fail(
        name,
        found.problem,
        'Check shared_journal.nodes, user and password; without this node, fewer others may fail',
      )
    else {
      answered.push({ name, node: found.node })
      yield* nodeLines(name, found.node)
    }
  }
  const schema = answered.find(({ node }) => node.schema !== null)?.node.schema ?? null
  if (schema === null) {
    for (const of of ['cluster', 'tables', 'rights']) yield skip(`${what}: ${of}`, 'no node serves')
    return
  }
  yield clusterLine(
    answered.map(({ node }) => node),
    sharing.nodes.length,
  )
  yield tablesLine(schema, cloud)
  yield* rightsLines(schema)
}

async function tried(look: Promise<SharedNode>): Promise<{ node: SharedNode } | { problem: LifeboatError }> {
  try {
    return { node: await look }
  } catch (thrown) {
    return { problem: ensureError(thrown) }
  }
}

/** What the server says before `lifeboat journal init` was executed there: no right on the database, no such database. */
function isWithoutDatabase({ details }: LifeboatError): boolean {
  return details['number'] === 1044 || details['number'] === 1049
}

function* nodeLines(name: string, { version, galera, flushAtCommit, largestPacket }: SharedNode): Generator<CheckLine> {
  if (galera === null)
    yield refused(
      name,
      `${version}, which is in no Galera cluster`,
      'A journal on a single server is lost with it: name the nodes of a cluster in shared_journal.nodes',
    )
  else if (galera.ready) yield ok(name, `${version}, serves in a cluster of ${galera.size}`)
  else
    yield refused(
      name,
      `${version}, does not serve: it sees too few other nodes, or is just joining them`,
      'Look at wsrep_cluster_status and wsrep_local_state_comment there',
    )
  if (flushAtCommit !== 1)
    yield warn(
      name,
      `innodb_flush_log_at_trx_commit is ${flushAtCommit}: when all nodes crash together, the entries of about the last second are lost there`,
      'Set it to 1. Otherwise only a daemon whose copy still has those entries can put them back',
    )
  if (largestPacket < leastPacket)
    yield refused(
      name,
      `max_allowed_packet is ${largestPacket}: a larger entry is never recorded, and all later ones wait for it`,
      `Set it to ${leastPacket} or more`,
    )
}

/** @param named nodes in the configuration */
function clusterLine(nodes: readonly SharedNode[], named: number): CheckLine {
  const of = `${what}: cluster`
  const serving = nodes.flatMap(({ galera }) => (galera?.ready === true ? [galera] : []))
  const size = Math.max(...serving.map((galera) => galera.size), 0)
  if (new Set(serving.map(({ cluster }) => cluster)).size > 1)
    return refused(
      of,
      'the nodes belong to different clusters',
      'Each cluster would have a journal and an active daemon of its own: name nodes of one cluster in shared_journal.nodes',
    )
  // The daemons judge so too. A node that has two names in the configuration is counted twice.
  if (serving.some((galera) => galera.size <= named / 2 && galera.size < serving.length))
    return refused(
      of,
      `${serving.length} nodes serve, and not all see each other: ${serving.map((galera) => galera.size).join(', ')} nodes as each of them sees it`,
      'One was bootstrapped on its own: look there for wsrep_cluster_address=gcomm://, name the others in it, and restart that node',
    )
  if (size === 0) return skip(of, 'no node is in one')
  if (size === 1)
    return warn(
      of,
      'it has 1 node',
      'When that node fails, nobody can record and no host is recovered: use three nodes',
    )
  if (size % 2 === 0)
    return warn(
      of,
      `it has ${size} nodes`,
      'When it splits in half, neither half serves, and no host is recovered: use an odd number of nodes, or an arbitrator (garbd)',
    )
  return ok(of, `it has ${size} nodes`)
}

function tablesLine(schema: SharedSchema, ours: string | null): CheckLine {
  const { missingTables, unreplicated, wronglyKeyed, cloud: theirs } = schema
  const of = `${what}: tables`
  if (missingTables.length > 0)
    return refused(of, `missing, or hidden from this account: ${missingTables.join(', ')}`, makeIt)
  if (unreplicated.length > 0)
    return refused(
      of,
      `not replicated by Galera: ${unreplicated.join(', ')}`,
      'Only InnoDB is: drop these tables while they are empty, and make them with what lifeboat journal init prints',
    )
  if (wronglyKeyed.length > 0)
    return refused(
      of,
      `without their primary key, or with another one: ${wronglyKeyed.join(', ')}`,
      'It lets one daemon alone write an entry: stop the daemons, drop the tables, and make them with what lifeboat journal init prints; the copies put the entries back',
    )
  if (theirs === null) return skip(of, 'the table tenure may not be read')
  if (theirs === '')
    return refused(
      of,
      'the table tenure has no row: no daemon can take over',
      'Drop the three tables, and make them with what lifeboat journal init prints; the copies put the entries back',
    )
  if (ours === null)
    return skip(of, `they are for the cloud ${theirs}; Lifeboat cannot tell which cloud this daemon is for`)
  if (theirs !== ours)
    return refused(
      of,
      `they hold the journal of the cloud ${theirs}, and this daemon is for ${ours}`,
      'Use one database for each cloud (shared_journal.database), or correct the auth_url of this one',
    )
  return ok(of, `they are there, for ${theirs}`)
}

function* rightsLines({ account, missingRights, needlessRights }: SharedSchema): Generator<CheckLine> {
  const of = `${what}: rights`
  if (missingRights.length > 0) yield refused(of, `${account} lacks ${missingRights.join('; ')}`, `GRANT it: ${makeIt}`)
  if (needlessRights.length > 0)
    yield refused(
      of,
      `${account} also has ${needlessRights.join('; ')}`,
      'REVOKE it: with the least rights, nobody who gets hold of the password can change a recorded entry',
    )
  if (missingRights.length + needlessRights.length === 0)
    yield ok(of, `${account} may do what a daemon needs, and no more`)
}

function refused(of: string, message: string, advice: string): CheckLine {
  return { what: of, result: 'fail', message, advice }
}

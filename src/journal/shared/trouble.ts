/**
 * What a failed statement means: whether a person is needed, and whether the statement may have been executed. Decides by the server's numbers
 * alone; the texts are for people, and differ between releases.
 */
import { StoreTrouble } from './store.ts'

/** Refused for what the account, the schema or the statement is: nodes of one cluster answer alike. */
const refusals: ReadonlySet<number> = new Set([
  ...[1044, 1045, 1130, 1142, 1143, 1227, 1698], // no access: to the database, at all, from here, to the table, to the column, without a privilege
  ...[1820, 1862, 4151], // the password must be changed, has expired; the account is locked
  ...[1049, 1054, 1136, 1146, 1364], // no such database, column; other columns; no such table; a column that we do not fill
  ...[1064, 1264, 1366, 1406], // not understood; too large, of another character set or too long for its column
])

/** The server did not execute the statement and will not. */
const notExecuted: ReadonlySet<number> = new Set([
  ...[1040, 1203, 1226], // too many connections
  1047, // the node is in no primary component, or does not serve yet
  1053, // it shuts down
  ...[1205, 1213], // a lock was waited for too long; certification or a deadlock was lost
  ...[1290, 1792, 1836], // read-only
])

const duplicateKey = 1062

/** MariaDB's own numbers. A proxy has others for servers that it cannot reach: ProxySQL those from 9000. */
const fromServer = (number: number): boolean => number >= 1_000 && number < 5_000

/** Whether a row with this key is there already. */
export function isDuplicate(thrown: unknown): boolean {
  return serverNumber(thrown) === duplicateKey
}

/** @param node who was asked, for the message */
export function troubleOf(thrown: unknown, node: { host: string; port: number }): StoreTrouble {
  const number = serverNumber(thrown)
  const text = thrown instanceof Error ? thrown.message : String(thrown)
  const message = `${node.host}:${node.port}: ${text}${number === null ? '' : ` (${number})`}`
  if (thrown instanceof StoreTrouble)
    return new StoreTrouble(thrown.kind, message, {
      maybeDone: thrown.maybeDone,
      answered: thrown.answered,
      cause: thrown.cause,
    })
  if (number !== null && refusals.has(number))
    return new StoreTrouble('refused', message, { maybeDone: false, cause: thrown })
  const maybeDone = number === null || !notExecuted.has(number)
  return new StoreTrouble('again', message, {
    maybeDone,
    answered: number !== null && fromServer(number),
    cause: thrown,
  })
}

/** Whether every address that was tried answered that nothing listens there. */
export function isClosed(thrown: unknown): boolean {
  if (thrown instanceof AggregateError) return thrown.errors.every((each) => isClosed(each))
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ECONNREFUSED'
}

/** The number of an error that the server sent; null for what the driver or the system says: theirs are texts or negative. */
export function serverNumber(thrown: unknown): number | null {
  if (!(thrown instanceof Error) || !('errno' in thrown)) return null
  return typeof thrown.errno === 'number' && thrown.errno > 0 ? thrown.errno : null
}

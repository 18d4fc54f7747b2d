/**
 * What an administrator executes once, as text for the `mariadb` client: the tables of a shared journal and the rights of the daemons' account.
 * Owns how the statements of tables.ts are written out. Has no password in it: what is printed ends in terminals and histories.
 */
import { format } from 'mysql2'
import { quoted, sharedTables, type SharedTables } from './tables.ts'

export interface InitScript extends SharedTables {
  /** Whether the daemons connect with TLS: then the account needs it. */
  tls: boolean
  /** Of Lifeboat, for who reads the script. */
  version: string
}

/** Statements that say nothing of what is stored, in the order in which they are to be executed. */
function before({ database, account: { user, host } }: SharedTables): string[] {
  return [
    'SET NAMES utf8mb4',
    // Backslashes are read as they are written here, and a GRANT makes no account without a password.
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_CREATE_USER'",
    // It grants nothing: where there is no such account, it fails before anything is made.
    format('GRANT USAGE ON *.* TO ?@?', [user, host]),
    `CREATE DATABASE IF NOT EXISTS ${quoted(database)}`,
  ]
}

/** Ends with a newline. The client stops at the first statement that fails: the account is not there, or the tables are. */
export function initScript(script: InitScript): string {
  const { cloud, account, tls, version } = script
  const create = format('CREATE USER ?@? IDENTIFIED BY', [account.user, account.host])
  const remarks = [
    `The shared journal of Lifeboat ${version} for the cloud ${cloud}`,
    "Execute it once, with an administrator's account, on one node of the cluster: lifeboat journal init | mariadb",
    'The account must be there before, with the password that the daemons are configured with:',
    `  ${create} 'PASSWORD'${tls ? ' REQUIRE SSL' : ''};`,
  ]
  const statements = [...before(script), ...sharedTables(script).map(({ sql, values }) => format(sql, values))]
  return [...remarks.map(remark), ...statements.map((sql) => `${sql};`), ''].join('\n')
}

/** Whatever stands in it, it stays on one line: what follows a line break would be executed. */
function remark(text: string): string {
  return `-- ${text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '?')}`
}

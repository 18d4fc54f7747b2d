/**
 * The tables of a shared journal and the rights of the daemons' account, as statements that an administrator's account executes once. The daemons
 * make no tables, since that stops the writes of the whole cluster, and no daemon can change an entry.
 */

export interface Statement {
  sql: string
  values: string[]
}

export interface SharedTables {
  /** Exists already, empty. */
  database: string
  /** What the journal is of: a daemon of another cloud refuses it. */
  cloud: string
  /** Exists already. `host`: where the daemons come from, as MariaDB writes it. */
  account: { user: string; host: string }
}

// Said for each table, for a cluster's default may be utf8mb3, in which neither every name fits nor `a` differs from `A`.
const charset = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'
const hash = 'CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL'

const columns: Readonly<Record<Table, string>> = {
  // The body is the exact text that is hashed, as bytes: no character set may touch it.
  entries: `seq BIGINT UNSIGNED NOT NULL PRIMARY KEY, hash ${hash}, body MEDIUMBLOB NOT NULL`,
  // One row. An empty holder: nobody.
  tenure: `id TINYINT NOT NULL PRIMARY KEY, epoch BIGINT UNSIGNED NOT NULL, beat BIGINT UNSIGNED NOT NULL,
    holder VARCHAR(64) NOT NULL, format INT NOT NULL, cloud VARCHAR(255) NOT NULL, at DATETIME(3) NOT NULL`,
  daemons: `name VARCHAR(64) NOT NULL PRIMARY KEY, address VARCHAR(255) NOT NULL, version VARCHAR(64) NOT NULL,
    mode VARCHAR(16) NOT NULL, config_digest ${hash}, copied_seq BIGINT UNSIGNED NOT NULL, good_poll_age_ms INT NULL,
    beat BIGINT UNSIGNED NOT NULL, at DATETIME(3) NOT NULL`,
}

export type Table = 'entries' | 'tenure' | 'daemons'

/** The column that is each table's whole primary key. That of the entries is what lets one daemon alone write one. */
export const primaryKeys: Readonly<Record<Table, string>> = { entries: 'seq', tenure: 'id', daemons: 'name' }

/** The least that a daemon needs, by table. */
export const neededRights: Readonly<Record<Table, readonly string[]>> = {
  entries: ['SELECT', 'INSERT'],
  tenure: ['SELECT', 'UPDATE'],
  daemons: ['SELECT', 'INSERT', 'UPDATE'],
}

export const tableNames: readonly Table[] = ['entries', 'tenure', 'daemons']

/** In the order in which they are to be executed. The first fails when the database has a shared journal. */
export function sharedTables({ database, cloud, account: { user, host } }: SharedTables): Statement[] {
  const named = (table: Table): string => `${quoted(database)}.${table}`
  return [
    ...tableNames.map((table) => ({ sql: `CREATE TABLE ${named(table)} (${columns[table]}) ${charset}`, values: [] })),
    { sql: `INSERT INTO ${named('tenure')} VALUES (1, 0, 0, '', 1, ?, UTC_TIMESTAMP(3))`, values: [cloud] },
    ...tableNames.map((table) => ({
      sql: `GRANT ${neededRights[table].join(', ')} ON ${named(table)} TO ?@?`,
      values: [user, host],
    })),
  ]
}

/** A name as MariaDB takes it. */
export function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``
}

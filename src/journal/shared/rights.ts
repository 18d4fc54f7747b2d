/** Whether the daemons' account may what a daemon needs, and nothing else. Pure: the server's grants in, words for people out. */
import { neededRights, tableNames, type Table } from './tables.ts'

/** A right on the journal's database. */
export interface HeldRight {
  /** The table; null: all of the database; `*.*`: all of the server. */
  on: string | null
  /** E.g. SELECT; USAGE is none, ALL PRIVILEGES is each. */
  privilege: string
  /** Set when it is of some columns alone. */
  columns?: string
  mayGrant: boolean
}

const name = '`(?:[^`]|``)*`'
const grantShape = new RegExp(`^GRANT (.+?) ON (\\*|${name})\\.(\\*|${name}) TO (.*)$`, 's')
const privilegeShape = /([A-Z ]+?)(?: \(([^)]*)\))?(?:, |$)/g

/** What `SHOW GRANTS` gives, read for one database. Roles and routines are left out: no statement of a daemon uses them. */
export function heldRights(grants: readonly string[], database: string): HeldRight[] {
  return grants.flatMap((grant) => {
    const [, privileges = '', of = '', table = '', rest = ''] = grantShape.exec(grant) ?? []
    const on = of === '*' ? '*.*' : table === '*' ? null : unquoted(table)
    const applies = of === '*' || (on === null ? isLike(database, unquoted(of)) : unquoted(of) === database)
    if (privileges === '' || !applies) return []
    const mayGrant = / WITH GRANT OPTION/.test(rest)
    return [...privileges.matchAll(privilegeShape)].map(([, privilege = '', columns]) => ({
      ...{ on, privilege, mayGrant },
      ...(columns !== undefined && { columns: columns.replaceAll('`', '') }),
    }))
  })
}

/** Whether the whole table may be used so. */
export function holds(held: readonly HeldRight[], table: Table, privilege: string): boolean {
  return held.some(
    (right) =>
      right.columns === undefined &&
      [privilege, 'ALL PRIVILEGES'].includes(right.privilege) &&
      [table, null, '*.*'].includes(right.on),
  )
}

/** Each as "SELECT, UPDATE on tenure". */
export function missingRights(held: readonly HeldRight[]): string[] {
  return tableNames.flatMap((table) => {
    const missing = neededRights[table].filter((needed) => !holds(held, table, needed))
    return missing.length === 0 ? [] : [`${missing.join(', ')} on ${table}`]
  })
}

/** In the same words: what no daemon needs. */
export function needlessRights(held: readonly HeldRight[]): string[] {
  const byPlace = new Map<string, Set<string>>()
  for (const { on, privilege, columns, mayGrant } of held) {
    const needless = isNeeded(on, privilege) ? [] : [columns === undefined ? privilege : `${privilege} (${columns})`]
    if (mayGrant) needless.push('GRANT OPTION')
    const where = on ?? 'the whole database'
    if (needless.length > 0) byPlace.set(where, new Set([...(byPlace.get(where) ?? []), ...needless]))
  }
  return [...byPlace].map(([where, needless]) => `${[...needless].join(', ')} on ${where}`)
}

function isNeeded(on: string | null, privilege: string): boolean {
  if (privilege === 'USAGE') return true
  const table = tableNames.find((each) => each === on)
  return table !== undefined && neededRights[table].includes(privilege)
}

function unquoted(quoted: string): string {
  return quoted.slice(1, -1).replaceAll('``', '`')
}

/** As MariaDB compares a database with the name in a grant: % and _ stand for others, unless a backslash is before them. */
function isLike(database: string, pattern: string): boolean {
  const shape = pattern.replaceAll(/\\[%_\\]|[%_\\^$.*+?()[\]{}|]/g, (found) => {
    if (found === '%') return '.*'
    if (found === '_') return '.'
    const meant = found.at(-1) ?? ''
    return meant === '%' || meant === '_' ? meant : `\\${meant}`
  })
  return new RegExp(`^${shape}$`, 'su').test(database)
}

/** The SQL that an administrator executes, as text. What MariaDB makes of it: test/galera/init.test.ts. */
import { describe, expect, it } from 'vitest'
import { initScript, type InitScript } from '../../../src/journal/shared/init-script.ts'

const usual: InitScript = {
  database: 'lifeboat',
  cloud: 'https://keystone:5000/v3',
  account: { user: 'lifeboat', host: '%' },
  tls: false,
  version: '1.2.3',
}

/** Without remarks, one statement a line. */
const statements = (script: Partial<InitScript> = {}): string[] =>
  initScript({ ...usual, ...script })
    .replaceAll(/\n {4}/g, ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('-- '))

describe('the script of a shared journal', () => {
  it('looks for the account before it makes anything, and makes the database before the tables', () => {
    expect(statements().map((sql) => sql.split(' ').slice(0, 2).join(' '))).toEqual([
      ...['SET NAMES', 'SET SESSION', 'GRANT USAGE', 'CREATE DATABASE'],
      ...[
        'CREATE TABLE',
        'CREATE TABLE',
        'CREATE TABLE',
        'INSERT INTO',
        'GRANT SELECT,',
        'GRANT SELECT,',
        'GRANT SELECT,',
      ],
    ])
  })

  it('grants what a daemon needs and nothing that changes an entry', () => {
    expect(statements({ account: { user: 'lb', host: '192.0.2.%' } }).filter((sql) => sql.startsWith('GRANT'))).toEqual(
      [
        "GRANT USAGE ON *.* TO 'lb'@'192.0.2.%';",
        "GRANT SELECT, INSERT ON `lifeboat`.entries TO 'lb'@'192.0.2.%';",
        "GRANT SELECT, UPDATE ON `lifeboat`.tenure TO 'lb'@'192.0.2.%';",
        "GRANT SELECT, INSERT, UPDATE ON `lifeboat`.daemons TO 'lb'@'192.0.2.%';",
      ],
    )
  })

  it('takes quotes, backslashes and line breaks in a name for what they are', () => {
    const [row] = statements({ cloud: "o'clock\\\n; DROP TABLE x", database: 'a`b' }).filter((sql) =>
      sql.startsWith('INSERT'),
    )
    expect(row).toBe(
      "INSERT INTO `a``b`.tenure VALUES (1, 0, 0, '', 1, 'o\\'clock\\\\\\n; DROP TABLE x', UTC_TIMESTAMP(3));",
    )
  })

  it.each(['\n', '\r', '\u2028', '\0', '\u0085'])('leaves no line break in a remark: %j', (breaking) => {
    const remarks = initScript({ ...usual, cloud: `a${breaking}DROP DATABASE x` }).split('\nSET NAMES')[0] ?? ''
    expect(remarks).not.toContain(breaking === '\n' ? '\nDROP' : breaking)
  })

  it.each([
    [true, "IDENTIFIED BY 'PASSWORD' REQUIRE SSL;"],
    [false, "IDENTIFIED BY 'PASSWORD';"],
  ])('asks for an account that must use TLS where the daemons do: %s', (tls, words) => {
    expect(initScript({ ...usual, tls })).toContain(`--   CREATE USER 'lifeboat'@'%' ${words}\n`)
  })
})

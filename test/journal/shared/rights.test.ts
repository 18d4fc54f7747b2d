/** Which rights of the daemons' account are missing, and which are too many, by the grants that a server shows. */
import { describe, expect, it } from 'vitest'
import { heldRights, holds, missingRights, needlessRights } from '../../../src/journal/shared/rights.ts'

const to = 'TO `lifeboat`@`%`'
const least = [
  `GRANT USAGE ON *.* ${to} IDENTIFIED BY PASSWORD '*B69027D44F6E5EDC07F1AEAD1477967B16F28227'`,
  `GRANT SELECT, INSERT ON \`lifeboat\`.\`entries\` ${to}`,
  `GRANT SELECT, UPDATE ON \`lifeboat\`.\`tenure\` ${to}`,
  `GRANT SELECT, INSERT, UPDATE ON \`lifeboat\`.\`daemons\` ${to}`,
]
const missing = (...grants: string[]): string[] => missingRights(heldRights(grants, 'lifeboat'))
const needless = (...grants: string[]): string[] => needlessRights(heldRights([...least, ...grants], 'lifeboat'))

describe('the rights of the account', () => {
  it('are right when they are the least', () => {
    expect([missing(...least), needless()]).toEqual([[], []])
  })

  it.each([
    ['changing an entry', `GRANT UPDATE, DELETE ON \`lifeboat\`.\`entries\` ${to}`, ['UPDATE, DELETE on entries']],
    [
      'a column',
      `GRANT UPDATE (\`hash\`, \`body\`) ON \`lifeboat\`.\`entries\` ${to}`,
      ['UPDATE (hash, body) on entries'],
    ],
    [
      'columns among others',
      `GRANT DROP, UPDATE (\`hash\`), DELETE ON \`lifeboat\`.\`entries\` ${to}`,
      ['DROP, UPDATE (hash), DELETE on entries'],
    ],
    ['a table that is not ours', `GRANT SELECT ON \`lifeboat\`.\`other\` ${to}`, ['SELECT on other']],
    ['a name that every object has', `GRANT SELECT ON \`lifeboat\`.\`constructor\` ${to}`, ['SELECT on constructor']],
    [
      'all of the database',
      `GRANT SELECT, CREATE VIEW ON \`lifeboat\`.* ${to}`,
      ['SELECT, CREATE VIEW on the whole database'],
    ],
    ['databases of such a name', `GRANT DROP ON \`l_feb%\`.* ${to}`, ['DROP on the whole database']],
    [
      'all of the server',
      `GRANT ALL PRIVILEGES ON *.* ${to} WITH GRANT OPTION`,
      ['ALL PRIVILEGES, GRANT OPTION on *.*'],
    ],
    ['granting', `GRANT SELECT ON \`lifeboat\`.\`entries\` ${to} WITH GRANT OPTION`, ['GRANT OPTION on entries']],
    ['everyone', 'GRANT INSERT ON `lifeboat`.`tenure` TO PUBLIC', ['INSERT on tenure']],
  ])('are too many with those of %s', (_what, grant, words) => expect(needless(grant)).toEqual(words))

  it.each([
    ['another database', `GRANT DROP ON \`nova\`.* ${to}`],
    ['a database whose name only looks alike', `GRANT DROP ON \`lifeboa\\_\`.* ${to}`],
    ['a database that is named by what a pattern would be', `GRANT DROP ON \`l.*\`.* ${to}`],
    ['a table of another database', `GRANT DELETE ON \`nova\`.\`entries\` ${to}`],
    ['no right', `GRANT USAGE ON *.* ${to}`],
    ['a role', `GRANT \`keeper\` ${to}`],
  ])('are not too many with those on %s', (_what, grant) => expect(needless(grant)).toEqual([]))

  it('are missing where no grant covers the whole table', () => {
    expect(missing(`GRANT SELECT, INSERT (\`seq\`) ON \`lifeboat\`.\`entries\` ${to}`)).toEqual([
      'INSERT on entries',
      'SELECT, UPDATE on tenure',
      'SELECT, INSERT, UPDATE on daemons',
    ])
  })

  it.each(['*.*', '`lifeboat`.*'])('suffice when they are granted on more than the tables: %s', (place) => {
    expect(missing(`GRANT SELECT, INSERT, UPDATE ON ${place} ${to}`)).toEqual([])
    expect(missing(`GRANT ALL PRIVILEGES ON ${place} ${to}`)).toEqual([])
  })

  it('let nobody read a table of which they name some columns', () => {
    const held = heldRights([`GRANT SELECT (\`epoch\`) ON \`lifeboat\`.\`tenure\` ${to}`], 'lifeboat')
    expect(holds(held, 'tenure', 'SELECT')).toBe(false)
  })
})

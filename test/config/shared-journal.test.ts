/** `shared_journal`: what is wrong is said with its place. */
import { expect, it } from 'vitest'
import { withoutSecrets } from '../../src/config/index.ts'
import { parse, problemsIn } from './configurations.ts'

const minimal = 'mode: observe\n'
const env = { LIFEBOAT_JOURNAL_PASSWORD: 'x' }
const section = (lines: string): string =>
  `${minimal}shared_journal:\n  nodes: [192.0.2.11:3306]\n  password_env: LIFEBOAT_JOURNAL_PASSWORD\n${lines}`

it('is not there by default: the journal is the own one', () => expect(parse(minimal).sharedJournal).toBeNull())

it('takes names, and addresses of both kinds', () => {
  const text = section('').replace('[192.0.2.11:3306]', "[db1.example.org:3306, '[2001:db8::1]:3307']")
  expect(parse(text, env).sharedJournal).toMatchObject({
    nodes: [
      { host: 'db1.example.org', port: 3306 },
      { host: '2001:db8::1', port: 3307 },
    ],
    ...{ user: 'lifeboat', database: 'lifeboat', caFile: null, leaseMs: 6_000, password: 'x' },
  })
})

it('hides its password where the configuration is shown', () => {
  const config = parse(section(''), { LIFEBOAT_JOURNAL_PASSWORD: 'hunter2' })
  expect(JSON.stringify(withoutSecrets(config))).not.toContain('hunter2')
})

it.each([
  ['a node without a port', section('').replace(':3306', ''), /nodes.*must be ADDRESS:PORT/],
  ['a port that does not exist', section('').replace('3306', '70000'), /port 70000 does not exist/],
  ['no node', section('').replace('[192.0.2.11:3306]', '[]'), /nodes/],
  ['a lease too short for a slow commit', section('  lease: 1s'), /lease/],
  ['a name that an identity cannot have', section('  name: "ctl 1/a"'), /letters, digits, dots and dashes/],
  ['an address that the others could not store', section(`  address: https://${'c'.repeat(250)}`), /address/],
  ['no password', `${minimal}shared_journal: { nodes: ['192.0.2.11:3306'] }`, /password/],
])('refuses %s', (_what, text, problem) => expect(problemsIn(text, env).join('\n')).toMatch(problem))

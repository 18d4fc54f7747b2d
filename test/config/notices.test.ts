import { describe, expect, it } from 'vitest'
import { withoutSecrets } from '../../src/config/index.ts'
import { readTexts } from '../../src/config/notice-texts.ts'
import type { NoticedState } from '../../src/domain/notice.ts'
import { english } from '../../src/notices/index.ts'
import { bad, parse, problemsIn, shipped } from './configurations.ts'

const receivers = (text: string, env: Record<string, string> = {}) =>
  parse(`notices: { receivers: { ${text} } }`, env).notices.receivers
const problems = (text: string): string[] => problemsIn(`notices: { receivers: { ${text} } }`)

describe('notices', () => {
  it('nobody is told of anything unless it is configured', () => {
    expect(parse('').notices).toEqual({
      ...{ link: null, freezeDelayMs: 30_000, giveUpAfterMs: 21_600_000, queueLimit: 1_000, maxInstances: 200 },
      receivers: {},
    })
  })

  it('a webhook is signed, told of everything about the cloud, and never shows tenants a host', () => {
    expect(receivers('hook: { kind: webhook, url: "https://h/", secret: sixteen-characters }')['hook']).toEqual({
      ...{ kind: 'webhook', url: 'https://h/', secret: 'sixteen-characters', caFile: null, client: null, verify: true },
      ...{ limitMs: 5_000, audience: 'operator', topics: null, segments: null, projects: null, least: 'info' },
      ...{ showHosts: false, texts: english, alerts: 'follows' },
    })
  })

  it('an Alertmanager keeps alerts alone, of operators alone, for ten minutes without a renewal', () => {
    expect(receivers('am: { kind: alertmanager, url: "https://h/", least: warning }')['am']).toMatchObject({
      ...{ kind: 'alertmanager', alerts: 'only', audience: 'operator', resolveTimeoutMs: 600_000, least: 'warning' },
    })
  })

  it.each<[string, object | null]>([
    ['', null],
    [', username: u, password_env: AM', { username: 'u', password: 'hunter2' }],
    [', token_env: AM', { token: 'hunter2' }],
  ])('an Alertmanager may ask for a login%s', (option, login) => {
    const am = receivers(`am: { kind: alertmanager, url: "https://h/"${option} }`, { AM: 'hunter2' })['am']
    expect(am).toMatchObject({ login })
  })

  it.each<[string, RegExp]>([
    ['audience: tenant', /audience/],
    ['projects: [red]', /projects/],
    ['show_hosts: true', /show_hosts/],
    ['secret: sixteen-characters', /secret/],
    ['resolve_timeout: 10s', /resolve_timeout.*1m/],
    ['topics: [instances-ended]', /topics.*instances-ended goes to audience tenant/],
    ['username: u', /^lifeboat\.yaml:1:\d+: notices\.receivers\.am: has no password \(give exactly one of password, /],
    ['password: w', /am: has a password but no username/],
    ['username: u, password: w, token: t', /am: has a password and a token/],
    ['username: "a:b", password: w', /am\.username: has a colon in it/],
    ['token: "a b"', /am: its token has spaces/],
    ['token_env: NOT_SET', /am\.token_env: environment variable NOT_SET is not set/],
    ['username: u, password_file: /nowhere/password', /am\.password_file: there is no file \/nowhere\/password/],
  ])('an Alertmanager with %s is refused, and the place named', (option, problem) => {
    expect(problems(`am: { kind: alertmanager, url: "https://h/", ${option} }`)).toEqual([
      expect.stringMatching(problem),
    ])
  })

  it.each(['webhook, sign: false', 'chat', 'alertmanager'])(
    'a receiver may ask for a client certificate: %s',
    (kind) => {
      const files = 'cert_file: /etc/us.pem, key_file: /etc/us.key'
      expect(receivers(`r: { kind: ${kind}, url: "https://h/", ${files} }`)['r']).toMatchObject({
        client: { certFile: '/etc/us.pem', keyFile: '/etc/us.key' },
      })
    },
  )

  it.each([
    ['https', 'cert_file: us.pem', 'cert_file: a client certificate is two files: give key_file too'],
    ['https', 'key_file: us.key', 'key_file: a client certificate is two files: give cert_file too'],
    ['http', 'cert_file: us.pem, key_file: us.key', 'cert_file: only an https url is shown a client certificate'],
  ])('half a client certificate, or one that nobody would be shown, is refused: %s with %s', (scheme, option, why) => {
    expect(problems(`r: { kind: chat, url: "${scheme}://h/", ${option} }`)).toEqual([
      expect.stringContaining(`notices.receivers.r.${why}`),
    ])
  })

  it('an address that is a secret comes from the environment', () => {
    const env = { HOOK: 'https://chat/hooks/abc' }
    expect(receivers('room: { kind: chat, url_env: HOOK }', env)['room']).toMatchObject({ url: env.HOOK })
  })

  it('an address from elsewhere must be one, too', () => {
    const text = 'notices: { receivers: { room: { kind: chat, url_env: HOOK } } }'
    expect(problemsIn(text, { HOOK: 'chat' })).toEqual([
      expect.stringContaining('notices.receivers.room: its url is no http or https URL'),
    ])
  })

  it('addresses by project are the projects that are told', () => {
    const mail = 'mail: { kind: email, audience: tenant, from: l@x.org, to_by_project: { red: [a@x.org] } }'
    expect(receivers(mail)['mail']).toMatchObject({ projects: ['red'], toByProject: { red: ['a@x.org'] }, to: [] })
  })

  it('a shown configuration has neither secrets nor addresses that are', () => {
    const text = 'hook: { kind: webhook, url: "https://h/hidden", secret: sixteen-characters }'
    const room = 'room: { kind: chat, url: "https://h/hidden" }'
    const alerts = 'am: { kind: alertmanager, url: "https://h/hidden", username: u, password: hidden }'
    const others = 'other: { kind: alertmanager, url: "https://h/", token: hidden }'
    const all = `notices: { receivers: { ${text}, ${room}, ${alerts}, ${others} } }`
    const shown = JSON.stringify(withoutSecrets(parse(all)))
    expect(shown).not.toMatch(/hidden|sixteen/)
  })

  it.each(['-oQ/tmp@x.org', 'a@x.org,b@x.org', 'a b@x.org', 'a@x.org\\nBcc: c@x.org', 'root'])(
    'one address is one address: "%s"',
    (address) => expect(problems(`m: { kind: email, from: l@x.org, to: ["${address}"] }`)).toHaveLength(1),
  )

  it.each(['https://user:word@h/', 'ftp://h/', 'h'])('an address is http or https, without a login: %s', (url) => {
    const shown = url.replace('user:word@', '***@')
    expect(problems(`room: { kind: chat, url: "${url}" }`)).toEqual([
      expect.stringContaining(`notices.receivers.room.url: "${shown}" must be an http or https URL without a login`),
    ])
  })

  it('says what contradicts itself with its place', () => {
    const text = `notices:
  receivers:
    hook: { kind: webhook, url: 'https://example.org/', secret: too-short, segments: [nowhere] }
    unsigned: { kind: webhook, url: 'https://example.org/', sign: false, secret: sixteen-characters }
    mute: { kind: webhook, url: 'https://example.org/', secret_env: NOT_SET }
    lost: { kind: chat }
    wrong: { kind: chat, url: 'https://example.org/', topics: [host-down, instances-ended], projects: [red] }
    nobody: { kind: email, from: a@example.org }
    both: { kind: email, from: a@example.org, to: [b@example.org], to_by_project: { red: [b@example.org] } }
`
    expect(problemsIn(text)).toEqual([
      'lifeboat.yaml:3:11: notices.receivers.hook: its secret is too short (at least 16 characters, e.g. openssl rand -hex 32)',
      'lifeboat.yaml:3:87: notices.receivers.hook.segments[0]: there is no segment "nowhere" (defined: none; or default:ZONE)',
      'lifeboat.yaml:4:67: notices.receivers.unsigned.sign: is false, but there is a secret to sign with (drop one of them)',
      'lifeboat.yaml:5:69: notices.receivers.mute.secret_env: environment variable NOT_SET is not set (the secret is taken from it)',
      'lifeboat.yaml:6:11: notices.receivers.lost: has no url (give exactly one of url, url_file, url_env)',
      'lifeboat.yaml:7:75: notices.receivers.wrong.topics[1]: instances-ended goes to audience tenant, and this receiver is for operator',
      'lifeboat.yaml:7:103: notices.receivers.wrong.projects: only notices to tenants are about a project (set audience: tenant)',
      'lifeboat.yaml:8:13: notices.receivers.nobody: has no recipients (exactly one of to, to_by_project)',
      'lifeboat.yaml:9:11: notices.receivers.both: has to and to_by_project (exactly one of to, to_by_project)',
      'lifeboat.yaml:9:83: notices.receivers.both.to_by_project: only notices to tenants are about a project (set audience: tenant)',
    ])
  })
})

describe('words of one’s own', () => {
  it('are laid over the English ones', () => {
    const texts = readTexts(shipped('notices.de.yaml'), (problem) => expect.fail(problem))
    expect(texts.states.running).toBe('läuft wieder auf einem anderen Host')
    expect(texts.topics['host-down']).toEqual(english.topics['host-down'])
    const untranslated = Object.entries(english.states).filter(
      ([state, words]) => texts.states[state as NoticedState] === words,
    )
    expect(untranslated).toEqual([])
  })

  it('that ask for what a tenant must not know, or are no templates, are told with their place', () => {
    const told: string[] = []
    readTexts(bad('bad-texts.txt'), (problem) => told.push(problem.replace(/^.*\//, '')))
    expect(told).toEqual([
      expect.stringContaining('bad-texts.txt:2:9: instances-ended.text there is no {host} here (known: {project}'),
      'bad-texts.txt:3:7: line has a stray { (write {{ for the brace itself)',
    ])
  })

  it('in a file that cannot be read are a problem of the configuration', () => {
    expect(problems('c: { kind: chat, url: "https://h/", texts: nowhere.yaml }')).toEqual([
      expect.stringMatching(/^lifeboat\.yaml:1:\d+: notices\.receivers\.c\.texts: \/.*nowhere\.yaml cannot be read/),
    ])
  })
})

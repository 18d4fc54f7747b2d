/** --url: the command line asks the daemon of another machine over TLS, with a login of the cloud. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer as plainServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Commands } from '../../src/cli/composition.ts'
import { CliFailure } from '../../src/cli/exit-codes.ts'
import { local } from '../../src/cli/reach.ts'
import { passing } from '../../src/cli/watch.ts'
import type { CountedGroup } from '../../src/domain/brake.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import { roles, type IncidentReview, type InstanceHistory } from '../../src/domain/review.ts'
import type { PersonLoginOrder } from '../../src/domain/token-holder.ts'
import { notActive } from '../../src/domain/tenure.ts'
import { personLogin } from '../../src/openstack/person-login.ts'
import { bareTree, leaves } from '../../src/reference/cli-reference.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import { aHost, aStatus } from '../api/fake-operations.ts'
import { elsewhere, type Elsewhere } from './elsewhere.ts'
import { anIncident, run, type Ran } from './fake-commands.ts'
import { aSegmentStatus } from './segments.ts'

const aGroup: CountedGroup = {
  ...{ scope: 'domain:a', kind: 'domain', title: 'rack a', message: 'full', also: [] },
  ...{ down: 3, allowed: 2, fleet: 6, trippedSince: '2026-01-02T03:04:05.000Z' },
  ...{ instances: 10, running: 8, uncounted: 1 },
  members: [{ host: 'cmp01', segment: 'ceph', incident: 'i-1', since: '2026-01-02T03:04:05.000Z', count: null }],
}

const aRecord: InstanceHistory = {
  ...{ id: 'u-1', name: 'web-7', projectId: 'p1', headline: 'It was there.', stays: [] },
  now: { host: 'cmp02', state: 'active', at: '2026-01-02T03:04:19.000Z', outcome: 'left', code: 'X', message: 'so' },
}

const advice = [{ code: 'START', text: 'Start it', command: null, instances: ['web'] }]

let there: Elsewhere
beforeAll(async () => {
  there = await elsewhere({
    operations: {
      hosts: () => [aHost],
      host: () => ({
        ...{ ...aHost, updatedAt: null, disabledReason: null, mark: null, return: null, incidents: [] },
        returnRules: aSegmentStatus.rules.return,
      }),
      heldGroups: () => [],
      returnHost: async () => ({ state: 'confirming', message: '' }) as never,
      startInstances: async () => undefined,
      incidents: (filter) => {
        there.asked.push(['incidents', filter])
        return [anIncident]
      },
      incident: () => anIncident,
    },
    review: {
      segments: () => [aSegmentStatus],
      counted: () => [aGroup],
      incident: () => ({ advice, notes: [], signOff: null }) as unknown as IncidentReview,
      search: () => ({
        ...{ hosts: [], incidents: [], more: false, unlisted: [] },
        instances: [
          { ...aRecord, ...anIncident, id: 'u-1', incident: 'i-1', outcome: 'left', landedOn: null },
        ] as never,
      }),
      instanceRecord: () => aRecord,
    },
  })
})
afterAll(() => there.close())

const logIn = async (asked: PersonLoginOrder) => personLogin(asked, clock)

/** As a person on a machine of their own: nothing of the daemon is there. */
function lifeboat(argv: string[], env: Record<string, string> = {}, user = 'ann'): Promise<Ran> {
  const own = { ...there.env(user), OS_CACERT: there.cacert, LIFEBOAT_CONFIG: '/nowhere', USER: '' }
  return run(['--url', there.url, ...argv], { logIn }, { env: { ...own, ...env } })
}

const reason = ['--reason', 'because']

/** Every command that asks the daemon, as it is typed. */
const asking: Record<string, string[]> = {
  status: ['status'],
  whoami: ['whoami'],
  open: ['open', 'web-7'],
  'host list': ['host', 'list'],
  'host show': ['host', 'show', 'cmp01'],
  'host return': ['host', 'return', 'cmp01', ...reason],
  'host maintenance': ['host', 'maintenance', 'cmp01', ...reason],
  'segment list': ['segment', 'list'],
  'segment show': ['segment', 'show', 'ceph'],
  'incident list': ['incident', 'list', '--host', 'cmp01', '--open'],
  'incident show': ['incident', 'show', 'i-1'],
  'incident diff': ['incident', 'diff', 'i-1', 'i-2'],
  'incident override': ['incident', 'override', 'i-1', ...reason],
  'incident cancel': ['incident', 'cancel', 'i-1', ...reason],
  'incident start': ['incident', 'start', 'i-1', ...reason],
  'incident note': ['incident', 'note', 'i-1', 'seen'],
  'incident sign-off': ['incident', 'sign-off', 'i-1', ...reason],
  'instance show': ['instance', 'show', 'web-7'],
  recover: ['recover', 'cmp01', '--proof', 'I pulled its cords'],
  pause: ['pause', ...reason],
  resume: ['resume', ...reason],
  'hand-over': ['hand-over', ...reason],
  'brake list': ['brake', 'list'],
  'brake override': ['brake', 'override', 'domain:a', ...reason],
  'maintenance start': ['maintenance', 'start', '--cloud', ...reason],
  'maintenance end': ['maintenance', 'end', '--cloud', ...reason],
  'maintenance withdraw': ['maintenance', 'withdraw', '7', ...reason],
  'maintenance list': ['maintenance', 'list'],
  reload: ['reload', ...reason],
  'log-level': ['log-level', 'debug'],
  complete: ['complete', 'hosts'],
}

describe('every command either asks the daemon elsewhere, or says why it cannot', () => {
  it('there is no third kind', () => {
    const all = leaves(bareTree()).map(([path]) => path)
    expect(all.filter((path) => !(path in asking) && !(path in local))).toEqual([])
    expect(Object.keys(asking).filter((path) => path in local)).toEqual([])
  })

  it.each(Object.entries(asking))('%s asks it', async (_path, words) => {
    expect(await lifeboat(words)).toMatchObject({ exit: 0, err: '' })
  })

  it('plan --all asks it too, though the plan of one host is made here', async () => {
    expect(await lifeboat(['plan', '--all'])).toMatchObject({ exit: 0, err: '' })
  })

  it.each(Object.entries(local))('%s needs files (%s)', async (path, why) => {
    const { exit, err } = await lifeboat([...path.split(' '), ...given(path)])
    expect(exit).toBe(2)
    expect(err).toContain(`\`lifeboat ${path}\``)
    expect(err).toContain(why === 'journal' ? 'on the machine where the daemon runs' : 'without --url')
  })
})

/** What a command that is refused needs to be parsed. */
function given(path: string): string[] {
  const [host, shell, receiver] = [['cmp01'], ['bash'], ['pager']]
  const needed: Record<string, string[]> = { plan: host, completion: shell, 'notice test': receiver }
  return needed[path] ?? (path === 'journal move' ? ['--to', 'own', ...reason] : [])
}

describe('who acts', () => {
  it('is the person of the token, whatever the account here is called', async () => {
    there.asked.length = 0
    await lifeboat(['recover', 'cmp01', '--proof', 'I pulled its cords'], { USER: 'root' })
    const via = expect.objectContaining({ by: 'token', userId: 'user-ann' }) as unknown
    expect(there.asked).toEqual([['recover', { host: 'cmp01', by: 'ann', proof: 'I pulled its cords', via }]])
  })

  it('cannot be another: --by is refused before anything is sent', async () => {
    there.asked.length = 0
    const { exit, err } = await lifeboat(['recover', 'cmp01', '--proof', 'seen', '--by', 'bob'])
    expect([exit, there.asked]).toEqual([2, []])
    expect(err).toContain('your token says who you are')
  })

  it.each([
    [
      'an application credential',
      () => ({ OS_APPLICATION_CREDENTIAL_ID: 'appcred-lifeboat', OS_APPLICATION_CREDENTIAL_SECRET: 'secret' }),
    ],
    ['a token alone, with no Keystone to ask', async () => ({ OS_TOKEN: await tokenOf('rita') })],
  ])('logs in with %s', async (_what, variables) => {
    const base = { OS_CACERT: there.cacert, OS_AUTH_URL: there.env('ann')['OS_AUTH_URL'] ?? '' }
    const env = { ...base, ...(await variables()) }
    if ('OS_TOKEN' in env) env.OS_AUTH_URL = ''
    const ran = await run(['--url', there.url, 'host', 'list', '-f', 'value', '-c', 'Host'], { logIn }, { env })
    expect(ran).toEqual({ exit: 0, out: 'cmp01\n', err: '' })
  })

  it('is told by whoami: as the daemon knows the token, with what its roles are worth', async () => {
    const { out } = await lifeboat(['whoami', '-f', 'json'], {}, 'olaf')
    expect(JSON.parse(out)).toEqual({
      ...{ Name: 'olaf', Role: 'operator', May: [roles.operator], Project: 'Default/service' },
      ...{ 'Keystone Roles': ['ha-operator'], Daemon: `${there.url}/` },
    })
  })

  it('may do no more than on the pages: the daemon says which role it takes', async () => {
    const { exit, err } = await lifeboat(['reload', ...reason], {}, 'olaf')
    expect(exit).toBe(77)
    expect(err).toContain('This needs the role admin; olaf is operator [AUTH_FORBIDDEN]')
  })

  it('logs in again, once, when the cloud no longer takes the token: people watch for longer than it lives', async () => {
    const tokens = ['stale', await tokenOf('rita')]
    let shown = 0
    const renewing = async () => ({
      cacert: there.cacert,
      token: () => Promise.resolve(tokens[Math.min(shown++, 1)] ?? ''),
      refused: () => true,
    })
    const ran = await run(['--url', there.url, 'host', 'list'], { logIn: renewing }, { env: {} })
    expect([ran.exit, shown]).toEqual([0, 2])
    tokens[1] = 'stale too'
    shown = 0
    expect((await run(['--url', there.url, 'host', 'list'], { logIn: renewing }, { env: {} })).exit).toBe(77)
    expect(shown).toBe(2)
  })
})

async function tokenOf(user: string): Promise<string> {
  return logIn({ env: { ...there.env(user), OS_CACERT: there.cacert }, cacert: null, limitMs: 15_000 }).then((it) =>
    it.token(),
  )
}

describe('what passes is waited for while they watch', () => {
  it.each(['API_UNAVAILABLE', 'API_TIMEOUT', 'API_THROTTLED'] as const)('%s, wrapped in what to do or not', (code) => {
    const refusal = new LifeboatError(code, 'Keystone cannot be asked')
    expect(passing(refusal)).toContain('Keystone cannot be asked')
    expect(passing(new CliFailure('failed', 'no token', [], { cause: refusal }))).toBe('no token')
  })

  it('but not a login that is refused', () => {
    const refusal = new LifeboatError('AUTH_FAILED', 'refused')
    expect(() => passing(new CliFailure('noPermission', 'no', [], { cause: refusal }))).toThrow('no')
  })
})

describe('where the daemon is', () => {
  const asked = { config: '', env: {} }
  it('its pages are too: open needs neither a login for the overview, nor a link in a configuration', async () => {
    expect(await run(['--url', there.url, 'open'], {}, asked)).toEqual({ exit: 0, err: '', out: `${there.url}/\n` })
    expect((await lifeboat(['open', 'web-7'])).out).toBe(`${there.url}/instances/u-1\n`)
  })

  it('LIFEBOAT_URL says it once, and --config of a daemon here beats it', async () => {
    const env = { ...there.env('rita'), OS_CACERT: there.cacert, LIFEBOAT_URL: there.url }
    expect((await run(['status'], { logIn }, { env })).exit).toBe(0)
    const here = join(mkdtempSync(join(tmpdir(), 'lb-')), 'lifeboat.yaml')
    writeFileSync(here, `socket: ${here}.sock\n`)
    expect((await run(['--config', here, 'status'], { logIn }, { env })).err).toContain(
      `no daemon answers on ${here}.sock`,
    )
  })

  it('LIFEBOAT_URL keeps nobody from checking files, and from taking the journal here for the one there', async () => {
    const env = { LIFEBOAT_URL: there.url }
    expect((await run(['config', 'check'], { logIn }, { env })).exit).toBe(0)
    expect(await run(['journal', 'list'], { logIn }, { env })).toMatchObject({
      exit: 2,
      err: expect.stringContaining('LIFEBOAT_URL is set: unset it') as string,
    })
  })

  it('LIFEBOAT_URL is not for what works with the files of this machine: people act there in their own name', async () => {
    const tests: unknown[] = []
    const testNotice: Commands['testNotice'] = (_config, test) => {
      tests.push(test.by)
      return Promise.resolve({ ok: true, detail: 'taken' })
    }
    const env = { LIFEBOAT_URL: 'no address', USER: 'ann' }
    expect((await run(['notice', 'test', 'pager'], { testNotice }, { env })).exit).toBe(0)
    expect(tests).toEqual(['ann'])
  })

  it.each([
    ['ftp://ha.example', 'this is not an https address'],
    ['ha.example:9394', 'this is not an https address'],
    ['http://ha.example:9394', 'without TLS, a token is sent only to this machine'],
    ['https://ann:secret@ha.example', 'must not contain a user or a password'],
  ])('%s is refused: %s', async (url, why) => {
    const { exit, err } = await run(['--url', url, 'status'], { logIn }, asked)
    expect(exit).toBe(2)
    expect(err).toContain(why)
    expect(err).not.toContain('secret')
  })

  it('--url beside --config, and --cacert without a daemon elsewhere, are refused', async () => {
    expect((await run(['--url', there.url, '--config', 'x', 'status'], {}, asked)).err).toContain('give one')
    expect((await run(['--cacert', there.cacert, 'status'], {}, asked)).err).toContain('add --url')
  })
})

describe('what can be wrong is said with what to do', () => {
  it('a certificate of an authority that this machine does not know: which option names the file', async () => {
    const token = await tokenOf('rita')
    const bare = (argv: string[]): Promise<Ran> =>
      run(['--url', there.url, ...argv, 'status'], { logIn }, { env: { OS_TOKEN: token } })
    const { exit, err } = await bare([])
    expect(exit).toBe(69)
    expect(err).toMatch(
      /the certificate of https:\S+ is not trusted, so nothing was sent: .*\n.*--cacert FILE or OS_CACERT/,
    )
    expect((await bare(['--cacert', there.cacert])).exit).toBe(0)
    expect((await bare(['--cacert', '/nowhere.pem'])).err).toContain('/nowhere.pem cannot be read')
  })

  it('OS_INSECURE trusts Keystone alone: the daemon is verified whatever it says', async () => {
    const env = { ...there.env('rita'), OS_INSECURE: 'true', NODE_TLS_REJECT_UNAUTHORIZED: '0' }
    expect((await run(['--url', there.url, 'status'], { logIn }, { env })).err).toContain('is not trusted')
  })

  it('a certificate for another name', async () => {
    const url = there.url.replace('127.0.0.1', 'localhost')
    const { err } = await lifeboat(['--url', url, 'status'])
    expect(err).toMatch(/is for another name, so nothing was sent/)
  })

  it('Keystone with an unknown certificate', async () => {
    const { exit, err } = await run(['--url', there.url, 'status'], { logIn }, { env: there.env('rita') })
    expect(exit).toBe(1)
    expect(err).toMatch(/Keystone \(OS_AUTH_URL\) gave no token: .*\n.*certificate.*\n.*--cacert FILE or OS_CACERT/)
  })

  it('no variable is set: which ones log in', async () => {
    const { exit, err } = await run(['--url', there.url, 'status'], { logIn }, { env: { HOME: '/nowhere' } })
    expect(exit).toBe(78)
    expect(err).toContain('OS_AUTH_URL, OS_USERNAME, OS_PASSWORD')
    expect(err).toContain('OS_TOKEN=$(openstack token issue')
  })

  it('a wrong password, and it is shown nowhere', async () => {
    const { exit, err } = await lifeboat(['status'], { OS_PASSWORD: 'hunter2' })
    expect(exit).toBe(77)
    expect(err).toContain('you could not be logged in: Keystone refused the credentials [AUTH_FAILED]')
    expect(err).toContain('OS_APPLICATION_CREDENTIAL_ID')
    expect(err).not.toContain('hunter2')
  })

  it('a token that the cloud does not know, and it is shown nowhere', async () => {
    const env = { OS_TOKEN: 'gAAAAstale', OS_CACERT: there.cacert }
    const { exit, err } = await run(['--url', there.url, 'status'], { logIn }, { env })
    expect(exit).toBe(77)
    expect(err).toMatch(/Keystone does not know this token.*\[AUTH_FAILED\]\n.*wants a token of its own cloud\n/)
    expect(err).not.toContain('stale')
  })

  it('a token with a line break in it, which no header can carry', async () => {
    const { exit, err } = await run(['--url', there.url, 'status'], { logIn }, { env: { OS_TOKEN: 'gAAAA\nstale' } })
    expect(exit).toBe(78)
    expect(err).toContain('OS_TOKEN is no token')
    expect(err).not.toContain('stale')
  })

  it('nothing listens there, or the name has no address', async () => {
    const token = { OS_TOKEN: 't' }
    const closed = await run(['--url', 'https://127.0.0.1:1', 'status'], { logIn }, { env: token })
    expect([closed.exit, closed.err]).toEqual([69, expect.stringContaining('no daemon answers on https://127.0.0.1:1')])
    const nameless = await run(['--url', 'https://ha.invalid', 'status'], { logIn }, { env: token })
    expect([nameless.exit, nameless.err]).toEqual([
      69,
      expect.stringContaining('the name in https://ha.invalid has no'),
    ])
  })

  it('an order that a standby refuses, with the address of the active daemon', async () => {
    const refusal = notActive({
      state: 'standby',
      name: 'ctl2',
      active: { name: 'ctl1', address: 'https://ctl1:9394' },
      namesake: null,
    })
    const standby = await elsewhere({ operations: { pause: () => Promise.reject(refusal) } })
    const env = { ...standby.env('ann'), OS_CACERT: standby.cacert }
    const { exit, err } = await run(['--url', standby.url, 'pause', ...reason], { logIn }, { env })
    await standby.close()
    expect(exit).toBe(75)
    expect(err).toContain('ctl1 is active')
    expect(err).toContain('order it there: --url https://ctl1:9394')
  })

  it('a daemon of an older release, which lacks a route', async () => {
    const older = await standIn((path) =>
      path === '/v1/status'
        ? { status: 200, body: { ...aStatus, version: '0.0.9' } }
        : { status: 404, body: { error: { code: 'NOT_FOUND', message: `There is no GET ${path}`, details: {} } } },
    )
    const { exit, err } = await run(['--url', older.url, 'brake', 'list'], { logIn }, { env: { OS_TOKEN: 't' } })
    older.server.close()
    expect(exit).toBe(1)
    expect(err).toContain('There is no GET /v1/brake [NOT_FOUND]')
    expect(err).toContain('the daemon runs release 0.0.9, and this command line is 0.1.0')
  })

  it('something else answers there', async () => {
    const stranger = await standIn(() => ({ status: 404, body: 'Not found' }))
    const { err } = await run(['--url', stranger.url, 'status'], { logIn }, { env: { OS_TOKEN: 't' } })
    stranger.server.close()
    expect(err).toContain(`${stranger.url} answered 404, but not the way Lifeboat does: is it really the daemon?`)
  })

  it("a proxy's page is no answer, whatever its status says: nothing is taken for done", async () => {
    const proxy = await standIn(() => ({ status: 200, body: '<html>Log in first</html>' }))
    const words = ['--url', proxy.url, 'resume', '--reason', 'over']
    const { exit, out, err } = await run(words, { logIn }, { env: { OS_TOKEN: 't' } })
    proxy.server.close()
    expect([exit, out]).toEqual([1, ''])
    expect(err).toContain(`${proxy.url} answered 200, but not the way Lifeboat does`)
  })

  it('a proxy does not reach the daemon: it may have taken the order', async () => {
    const proxy = await standIn(() => ({ status: 502, body: 'Bad Gateway' }))
    const words = ['--url', proxy.url, 'resume', '--reason', 'over']
    const { exit, err } = await run(words, { logIn }, { env: { OS_TOKEN: 't' } })
    proxy.server.close()
    expect(exit).toBe(69)
    expect(err).toContain(`${proxy.url} answered 502: a proxy before the daemon does not reach it`)
    expect(err).toContain('the daemon may have taken the order')
  })
})

/** Another program, on this machine: there plain HTTP is used too. */
async function standIn(
  answers: (path: string) => { status: number; body: unknown },
): Promise<{ url: string; server: Server }> {
  const server = plainServer(({ url = '' }, answer) => {
    const { status, body } = answers(url)
    answer.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

describe('what is on record is read there', () => {
  it('incidents with every filter, an incident as its page, and an instance by its name', async () => {
    there.asked.length = 0
    const listed = await lifeboat(['incident', 'list', '--unsettled', '--instance', 'web-7', '-f', 'value', '-c', 'ID'])
    expect(listed).toEqual({ exit: 0, out: 'i-1\n', err: '' })
    expect(there.asked).toContainEqual(['incidents', { unsettled: true, instance: 'u-1', limit: 100 }])
    const shown = await lifeboat(['incident', 'show', 'i-1', '-f', 'json'])
    expect(JSON.parse(shown.out)).toEqual({ ...anIncident, advice, notes: [], signOff: null })
    expect((await lifeboat(['instance', 'show', 'web-7'])).out).toContain('It was there.')
  })

  it('--follow ends with the incident, and its exit code says how it ended', async () => {
    const { exit, out } = await lifeboat(['incident', 'show', 'i-1', '--follow'])
    expect(exit).toBe(1)
    expect(out).toContain('done at 2026-01-02 03:00:12Z')
  })
})

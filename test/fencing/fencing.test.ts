import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { errorRecord, LifeboatError } from '../../src/domain/errors.ts'
import type { FenceAttempt, FencingProof } from '../../src/domain/fencing.ts'
import { agentInput, agentMethod } from '../../src/fencing/agent.ts'
import { commandMethod, fill } from '../../src/fencing/command.ts'
import { createFencer } from '../../src/fencing/fencer.ts'
import type { FencingMethod } from '../../src/fencing/method.ts'
import { powerProbe } from '../../src/fencing/power-probe.ts'
import { redfishMethod } from '../../src/fencing/redfish.ts'
import { FakeBmc, fakeAgent, password, systemClock as clock } from './setup.ts'

// Generous: a machine that is busy for seconds must not look like a board that does not answer.
const verify = { pauseMs: 10, limitMs: 20_000 }
/** Where what is wanted is that it runs out. */
const brief = { pauseMs: 10, limitMs: 800 }

function fencerOf(...methods: FencingMethod[]) {
  return createFencer({ clock, methods: new Map(methods.map((method) => [method.name, method])), observer: {} })
}

async function failure(work: Promise<unknown>): Promise<LifeboatError> {
  return work.then(
    () => expect.unreachable('it must fail'),
    (thrown: unknown) => thrown as LifeboatError,
  )
}

/** A zombie does nothing any more. */
function runs(pid: string): boolean {
  const stat = `/proc/${pid}/stat`
  return existsSync(stat) && !/\) Z /.test(readFileSync(stat, 'utf8'))
}

let bmc: FakeBmc
let url: string
beforeEach(async () => {
  bmc = new FakeBmc()
  url = await bmc.start()
})
afterEach(() => bmc.stop())

function redfish(
  change: { url?: string; password?: string; verifyTls?: boolean } = {},
  limits: typeof verify = verify,
): FencingMethod {
  const system = { url, username: 'admin', password, ...change }
  return redfishMethod({
    name: 'bmc',
    clock,
    observer: {},
    requestLimitMs: 5_000,
    verify: limits,
    system: (host) => (host === 'h1' ? system : undefined),
  })
}
const fenceBy = (method: FencingMethod) => fencerOf(method).fence('h1', [method.name], () => undefined)

describe('redfish', () => {
  it('forces off, sees Off twice, and proves it', async () => {
    const proof = await fenceBy(redfish())
    expect(proof).toMatchObject({ host: 'h1', method: 'bmc', strength: 'power-off', statedBy: null })
    expect(proof.evidence.filter((line) => line.includes('PowerState Off')).length).toBe(2)
    expect(bmc.seen.filter((line) => line.startsWith('POST'))).toEqual([
      'POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset {"ResetType":"ForceOff"}',
    ])
  })

  it('takes a host that is off already for fenced, without an order', async () => {
    bmc.power = 'Off'
    await fenceBy(redfish())
    expect(bmc.seen.some((line) => line.startsWith('POST'))).toBe(false)
  })

  it('a BMC that accepts and does nothing is no proof', async () => {
    bmc.stuck = true
    expect(await failure(fenceBy(redfish({}, brief)))).toMatchObject({ code: 'FENCE_UNVERIFIED', certainty: 'unknown' })
  })

  it('Off for one reading only is a restart, no proof', async () => {
    bmc.offReadings = 1
    expect(await failure(fenceBy(redfish({}, brief)))).toMatchObject({ code: 'FENCE_UNVERIFIED' })
  })

  it('a refused order fails', async () => {
    bmc.resetStatus = 400
    expect(await failure(fenceBy(redfish()))).toMatchObject({ code: 'FENCE_FAILED' })
  })

  it('a lost answer is reconciled by reading, never by sending again', async () => {
    bmc.dropReset = true
    await fenceBy(redfish())
    expect(bmc.seen.filter((line) => line.startsWith('POST')).length).toBe(1)
  })

  it.each([
    ['Off', 'off'],
    ['On', 'on'],
    ['PoweringOn', 'on'],
    ['PoweringOff', 'on'],
    ['Paused', 'on'],
    ['Unknown', 'unknown'],
    ['Reset', 'unknown'],
    ['', 'unknown'],
  ])('a board that says %j is read as %s', async (state, power) => {
    bmc.body = { PowerState: state }
    expect(await redfish().look('h1')).toMatchObject({ power })
  })

  it('an unreachable BMC fails', async () => {
    bmc.stop()
    expect(await failure(fenceBy(redfish()))).toMatchObject({ code: 'FENCE_FAILED' })
  })

  it.each([['no JSON at all'], [{ Name: 'a chassis' }], [{ PowerState: 7 }], [[]]])('%j is malformed', async (body) => {
    bmc.body = body
    const error = await failure(fenceBy(redfish()))
    expect(error.code).toBe('FENCE_FAILED')
    expect(inspect(error, { depth: 9 })).toContain('API_MALFORMED')
  })

  it('sends no password to another address that a BMC names', async () => {
    const other = new FakeBmc()
    bmc.resetTarget = `${await other.start()}/Actions/ComputerSystem.Reset`
    expect((await failure(fenceBy(redfish()))).code).toBe('FENCE_FAILED')
    expect(other.seen).toEqual([])
    other.stop()
  })

  it.each(['/nowhere/ca.pem', '/dev/null'])(
    'a CA file that cannot be read (%s) fails, and no connection is made',
    async (caFile) => {
      const secure = { url: url.replace('http:', 'https:'), username: 'admin', password, caFile }
      const method = redfishMethod({
        name: 'bmc',
        clock,
        observer: {},
        requestLimitMs: 5_000,
        verify,
        system: () => secure,
      })
      expect((await method.look('h1')).power).toBe('unknown')
      const error = await failure(fenceBy(method))
      expect(error).toMatchObject({ code: 'FENCE_FAILED', cause: { code: 'CONFIG_INVALID' } })
      expect(bmc.seen).toEqual([])
    },
  )

  it('shows no password in what fails', async () => {
    const wrong = await failure(fenceBy(redfish({ password: 'wrong-secret-9' })))
    bmc.stop()
    const gone = await failure(fenceBy(redfish()))
    for (const error of [wrong, gone]) {
      const all = inspect(error, { depth: 12 }) + JSON.stringify(errorRecord(error))
      expect(all).not.toContain('wrong-secret-9')
      expect(all).not.toContain(password)
      expect(all).not.toContain(Buffer.from(`admin:${password}`).toString('base64'))
    }
  })

  it('as a probe: Off is dead, everything else is unknown', async () => {
    const probe = powerProbe({ name: 'power', method: redfish(), clock })
    const answers = []
    for (const power of ['On', 'PoweringOff', 'Off']) {
      bmc.power = power
      answers.push((await probe.read('h1')).answer)
    }
    answers.push((await probe.read('h2')).answer)
    bmc.stop()
    answers.push((await probe.read('h1')).answer)
    expect(answers).toEqual(['unknown', 'unknown', 'dead', 'unknown', 'unknown'])
  })
})

describe('a fence agent', () => {
  const agentOf = (agent: string, options: Record<string, string> = {}, runLimitMs = 20_000, limitMs = 20_000) =>
    agentMethod({
      name: 'agent',
      clock,
      agent,
      runLimitMs,
      verify: { pauseMs: 10, limitMs },
      options: () => ({ ip: '10.0.0.1', password, ...options }),
    })

  it('gets its options on stdin and none in its arguments, and is asked twice', async () => {
    const agent = fakeAgent()
    const proof = await fenceBy(agentOf(agent.path))
    expect(proof.strength).toBe('agent-verified')
    expect(agent.input()).toContain(`action=off\nip=10.0.0.1\npassword=${password}\n`)
    expect(agent.argv()).toBe(`${agent.path} \n`.repeat(3))
    expect(JSON.stringify(proof)).not.toContain(password)
  })

  it('that says done while the host is on is no proof', async () => {
    expect((await failure(fenceBy(agentOf(fakeAgent('exit 0').path, {}, 20_000, 400)))).code).toBe('FENCE_UNVERIFIED')
  })

  it('that fails is a failure, and its output shows no password', async () => {
    const error = await failure(fenceBy(agentOf(fakeAgent(`echo "login with ${password} failed"; exit 1`).path)))
    expect(error.code).toBe('FENCE_FAILED')
    expect(inspect(error, { depth: 9 })).toContain('login with *** failed')
    expect(inspect(error, { depth: 9 })).not.toContain(password)
  })

  it('that fails on a host that is off already still proves it', async () => {
    const agent = fakeAgent('exit 1')
    agent.power('off')
    expect((await fenceBy(agentOf(agent.path))).strength).toBe('agent-verified')
  })

  it('whose interpreter ends with 2, whatever it is asked, proves nothing', async () => {
    const agent = fakeAgent('exit 2')
    agent.power('off')
    expect((await failure(fenceBy(agentOf(agent.path)))).code).toBe('FENCE_FAILED')
  })

  it('whose interpreter cannot read its file any more reads nothing, and renews no proof', async () => {
    const agent = fakeAgent()
    const fencer = fencerOf(agentOf(agent.path, {}, 20_000, 400))
    const proof = await fenceBy(agentOf(agent.path))
    const gone = join(mkdtempSync(join(tmpdir(), 'fence-')), 'agent.sh')
    writeFileSync(agent.path, `#!/bin/sh\nexec sh ${gone}\n`)
    expect(spawnSync(agent.path).status).toBe(2)
    expect(await agentOf(agent.path).look('h1')).toMatchObject({ power: 'unknown' })
    expect((await failure(fencer.restore({ ...proof }))).code).toBe('FENCE_UNVERIFIED')
  })

  it('shows no value of an option that was given as a secret, whatever its name', async () => {
    const agent = fakeAgent('echo "no login for pin 4711"; exit 1')
    const method = agentMethod({
      ...{ name: 'agent', clock, agent: agent.path, options: () => ({ pin: '4711' }), secrets: ['pin'] },
      ...{ verify: { pauseMs: 10, limitMs: 2_000 }, runLimitMs: 20_000 },
    })
    const error = await failure(fenceBy(method))
    expect(inspect(error, { depth: 9 })).toContain('no login for pin ***')
  })

  it('that hangs is killed with everything it started', async () => {
    const marker = `610.${process.pid}`
    const error = await failure(fenceBy(agentOf(fakeAgent(`sleep ${marker}`).path, {}, 300)))
    expect(error).toMatchObject({ code: 'FENCE_FAILED', certainty: 'unknown' })
    const left = (): string => spawnSync('pgrep', ['-f', `sleep ${marker}`]).stdout.toString()
    await expect.poll(left).toBe('')
  })

  it('ends at its time limit although the daemon stands still', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'lifeboat-fence-'))
    const late = join(directory, 'late')
    const program = `
      import { runProgram } from '${new URL('../../dist/fencing/program.js', import.meta.url).href}'
      const clock = { now: () => 0, wall: () => 0, after: () => () => undefined }
      void runProgram({ argv: ['/bin/sh', '-c', 'echo $$ > "$0/began"; sleep 2; touch "$0/late"', '${directory}'], clock, limitMs: 500 })
      setInterval(() => undefined, 1000)`
    const daemon = spawn(process.execPath, ['--input-type=module', '-e', program])
    await expect.poll(() => existsSync(join(directory, 'began'))).toBe(true)
    daemon.kill('SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    daemon.kill('SIGKILL')
    expect(existsSync(late)).toBe(false)
    rmSync(directory, { recursive: true })
  })

  it('that does not exist did nothing', async () => {
    expect(await failure(fenceBy(agentOf('/nowhere/fence_x')))).toMatchObject({
      code: 'FENCE_FAILED',
      certainty: 'not-applied',
    })
  })

  it.each([
    [{ ip: '10.0.0.1\naction=on' }],
    [{ 'ip\naction': 'on' }],
    [{ action: 'on' }],
    [{ ACTION: 'on' }],
    [{ option: 'reboot' }],
    [{ ip: 'a\rb' }],
    [{ 'a=b': 'c' }],
  ])('never gets %j', (options) => {
    expect(() => agentInput(options, 'off')).toThrow(/fence agent/)
  })
})

describe('commands', () => {
  const method = (fence: string[], check: string[], limits = verify) =>
    commandMethod({
      name: 'own',
      clock,
      fence,
      verifyCommand: check,
      variables: () => ({ rack: 'r 1;id' }),
      verify: limits,
      runLimitMs: 20_000,
    })

  it('prove it when the verify command says off twice', async () => {
    const proof = await fenceBy(method(['echo', '{host} in {rack}'], ['true']))
    expect(proof.strength).toBe('command-verified')
    expect(proof.evidence[0]).toBe('fence: exit 0, h1 in r 1;id')
  })

  it.each(['exit 1', 'exit 2', 'kill -9 $$'])('prove nothing when it says %s', async (check) => {
    expect((await failure(fenceBy(method(['true'], ['sh', '-c', check], brief)))).code).toBe('FENCE_UNVERIFIED')
  })

  it('that fail are a failure', async () => {
    expect((await failure(fenceBy(method(['false'], ['true'])))).code).toBe('FENCE_FAILED')
  })

  it('take no variable that is missing or looks like an option', () => {
    expect(() => fill(['{nothing}'], {})).toThrow('not set')
    expect(() => fill(['{host}'], { host: '-rf' })).toThrow('option')
    expect(() => fill(['{constructor}'], {})).toThrow('not set')
  })
})

describe('the chain', () => {
  const broken: FencingMethod = {
    ...commandMethod({
      name: 'first',
      clock,
      fence: ['false'],
      verifyCommand: ['true'],
      variables: () => ({}),
      verify,
      runLimitMs: 20_000,
    }),
  }

  it('goes on to the next method and tells each attempt before and after', async () => {
    const attempts: FenceAttempt[] = []
    const proof = await fencerOf(broken, redfish()).fence('h1', ['first', 'bmc'], (attempt) => attempts.push(attempt))
    expect(proof.method).toBe('bmc')
    expect(attempts.map(({ method, phase }) => `${method} ${phase}`)).toEqual([
      'first trying',
      'first failed',
      'bmc trying',
      'bmc succeeded',
    ])
  })

  it('without a method that covers the host is missing, not failed', async () => {
    const fencer = fencerOf(redfish())
    expect((await failure(fencer.fence('h1', [], () => undefined))).code).toBe('FENCING_MISSING')
    expect((await failure(fencer.fence('h2', ['bmc'], () => undefined))).code).toBe('FENCING_MISSING')
    expect((await failure(fencer.fence('h1', ['gone'], () => undefined))).code).toBe('FENCING_MISSING')
  })

  it('does not go on to fence when the daemon stops', async () => {
    const error = await failure(
      fencerOf(redfish()).fence('h1', ['bmc'], () => undefined, { signal: AbortSignal.abort() }),
    )
    expect(error.code).toBe('SHUTDOWN')
    expect(bmc.seen).toEqual([])
  })

  it('does not send ForceOff when the host came back while its board was read', async () => {
    const back = new LifeboatError('FENCE_STOPPED', 'the host is back')
    const mayGoOn = (): void => {
      if (bmc.seen.length > 0) throw back
    }
    const error = await failure(fencerOf(redfish()).fence('h1', ['bmc'], () => undefined, { mayGoOn }))
    expect(error).toMatchObject({ code: 'FENCE_STOPPED', certainty: 'not-applied' })
    expect(bmc.seen.map((line) => line.split(' ')[0])).toEqual(['GET'])
  })

  it('does not send ForceOff when that is forbidden while the connection to the board is made', async () => {
    const forbidden = new LifeboatError('HELD_BACK', 'the lease is over')
    let asked = 0
    const mayAct = (): void => {
      if (++asked > 1) throw forbidden
    }
    expect(await failure(redfish().off('h1', undefined, mayAct))).toBe(forbidden)
    expect(bmc.seen.map((line) => line.split(' ')[0])).toEqual(['GET'])
  })

  it.each(['http', 'https'])(
    'resets the connection of a ForceOff that is cut off: it does not come late (%s)',
    async (scheme) => {
      const board = new FakeBmc()
      board.hangReset = true
      const method = redfish({ url: await board.start({ tls: scheme === 'https' }), verifyTls: false })
      const stop = new AbortController()
      const work = failure(fencerOf(method).fence('h1', ['bmc'], () => undefined, { signal: stop.signal }))
      await expect.poll(() => board.seen.length, { timeout: 5_000 }).toBe(2)
      stop.abort(new LifeboatError('FENCE_STOPPED', 'cancelled'))
      expect(await work).toMatchObject({ code: 'FENCE_STOPPED', certainty: 'unknown' })
      await expect.poll(() => board.broke, { timeout: 5_000 }).toEqual(['ECONNRESET'])
      board.stop()
    },
  )

  it('a program that is cut off is killed: its power-off does not come late', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'lifeboat-late-'))
    try {
      const mark = join(directory, 'powered-off')
      const pidOf = (): string => (existsSync(`${mark}.pid`) ? readFileSync(`${mark}.pid`, 'utf8').trim() : '')
      const late = commandMethod({
        ...{ name: 'late', clock, verify, runLimitMs: 600_000, variables: () => ({}) },
        fence: ['sh', '-c', `sh -c 'echo $$ > ${mark}.pid; sleep 600; touch ${mark}' & wait`],
        verifyCommand: ['true'],
      })
      const stop = new AbortController()
      const work = failure(fencerOf(late).fence('h1', ['late'], () => undefined, { signal: stop.signal }))
      await expect.poll(pidOf).not.toBe('')
      stop.abort(new LifeboatError('FENCE_STOPPED', 'cancelled'))
      expect(await work).toMatchObject({ code: 'FENCE_STOPPED', certainty: 'unknown' })
      await expect.poll(() => runs(pidOf())).toBe(false)
      expect(existsSync(mark)).toBe(false)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })

  it('does not act when the attempt cannot be recorded', async () => {
    const unrecorded = (): never => {
      throw new Error('the journal is full')
    }
    await failure(fencerOf(redfish()).fence('h1', ['bmc'], unrecorded))
    expect(bmc.seen).toEqual([])
  })
})

describe('proofs', () => {
  it('are accepted only as the object that was made here, for its own host', async () => {
    const fencer = fencerOf(redfish())
    const proof = await fencer.fence('h1', ['bmc'], () => undefined)
    expect(() => fencer.verify(proof, 'h1')).not.toThrow()
    expect(() => fencer.verify(proof, 'h2')).toThrow('for h1, not for h2')
    const forgeries: unknown[] = [{ ...proof }, structuredClone(proof), Object.create(proof), null, undefined, 'proof']
    for (const forgery of forgeries)
      expect(() => fencer.verify(forgery as FencingProof, 'h1')).toThrow('not made by fencing')
    expect(() => ((proof as { host: string }).host = 'h2')).toThrow(TypeError)
  })

  it('out of the journal are read once more', async () => {
    const fencer = fencerOf(redfish())
    const record = { ...(await fencer.fence('h1', ['bmc'], () => undefined)) }
    fencer.verify(await fencer.restore(record), 'h1')
    bmc.power = 'On'
    expect((await failure(fencer.restore(record))).code).toBe('HOST_ALIVE')
    bmc.stop()
    expect((await failure(fencer.restore(record))).code).toBe('FENCE_UNVERIFIED')
    expect((await failure(fencerOf().restore(record))).code).toBe('FENCE_UNVERIFIED')
    expect(bmc.seen.filter((line) => line.startsWith('POST')).length).toBe(1)
  })

  it('by a person need a name and a text, and stay valid', async () => {
    const fencer = fencerOf()
    expect(() => fencer.attest('h1', ' ', 'I pulled the plug')).toThrow('needs a name')
    expect(() => fencer.attest('h1', 'kim', '\n')).toThrow('needs a name')
    const proof = fencer.attest('h1', 'kim', 'I pulled the plug')
    expect(proof).toMatchObject({ strength: 'statement', statedBy: 'kim', method: 'operator' })
    fencer.verify(await fencer.restore({ ...proof }), 'h1')
  })
})

/** What leaves for Nova while the daemon may act, and is cut off when it may not any more. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { MayLeave } from '../../src/domain/cloud.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import { lastMoment } from '../../src/executor/last-moment.ts'
import { Gate } from '../adapters/gate.ts'
import { failure, loopbackPem, RehearsedCloud } from './rehearsed-cloud.ts'

const route = 'POST /v2.1/servers/i1/action'
const tls = { verify: true, cacert: loopbackPem, cert: null, key: null }

const kinds: [string, boolean][] = [
  ['HTTP', false],
  ['HTTPS', true],
]

describe.each(kinds)('a write over %s', (_name, encrypted) => {
  it('does not leave where it is no longer allowed by the time its connection stands', async () => {
    const cloud = await RehearsedCloud.open({ tls: encrypted })
    let asked = 0
    // The first time it is asked before the connection is made.
    const mayLeave = (): void => {
      if (++asked > 1) throw new LifeboatError('HELD_BACK', 'not sent')
    }
    expect(await failure(cloud.client({ tls }).stop('i1', { mayLeave }))).toMatchObject({
      ...{ code: 'HELD_BACK', message: 'not sent', certainty: 'not-applied' },
    })
    expect(cloud.requests(route)).toEqual([])
    await cloud.shut()
  })

  /** The connection takes so long. */
  const connecting = (cloud: RehearsedCloud, tookMs: number): MayLeave => {
    const lastly = lastMoment(cloud.clock, () => true)
    return (connectingMs) => {
      if (connectingMs === undefined) setImmediate(() => cloud.clock.advance(tookMs))
      lastly(connectingMs)
    }
  }

  it('leaves although its connection took five seconds: a slow resolver holds nothing back', async () => {
    const cloud = await RehearsedCloud.open({ tls: encrypted })
    cloud.on(route, () => ({ status: 202 }))
    await cloud.client({ tls }).stop('i1', { mayLeave: connecting(cloud, 5_000) })
    expect(cloud.requests(route)).toHaveLength(1)
    await cloud.shut()
  })

  it('does not leave where its connection took twelve seconds: Nova counts as away', async () => {
    const cloud = await RehearsedCloud.open({ tls: encrypted })
    const error = await failure(cloud.client({ tls }).stop('i1', { mayLeave: connecting(cloud, 12_000) }))
    expect(error).toMatchObject({ code: 'API_UNAVAILABLE', certainty: 'not-applied', retry: 'backoff' })
    expect(cloud.requests(route)).toEqual([])
    await cloud.shut()
  })
})

describe.each(kinds)('a write over %s that is given up', (_name, encrypted) => {
  it.each(['at its time limit', 'by its caller'])(
    '%s is reset, so that nothing of it is delivered later',
    async (how) => {
      const cloud = await RehearsedCloud.open({ tls: encrypted })
      const caller = new AbortController()
      const asked = new Promise<void>((resolve) => {
        cloud.on(route, () => {
          setImmediate(resolve)
          return { instead: 'hang' }
        })
      })
      const outcome = failure(cloud.client({ tls }).stop('i1', { signal: caller.signal }))
      await asked
      if (how === 'by its caller') caller.abort()
      else cloud.clock.advance(600_000)
      expect(await outcome).toMatchObject({ certainty: 'unknown' })
      await expect.poll(() => cloud.broke, { timeout: 5_000 }).toEqual(['ECONNRESET'])
      await cloud.shut()
    },
  )
})

describe.each(kinds)('a write over %s of a daemon that shares its journal', (_name, encrypted) => {
  let cloud: RehearsedCloud
  let gate: Gate
  beforeEach(async () => {
    cloud = await RehearsedCloud.open({ tls: encrypted })
    gate = new Gate()
  })
  afterEach(() => cloud.shut())

  it('does not leave where the lease is over by the time its connection stands', async () => {
    gate.held = () => false
    const error = await failure(cloud.client({ tls }, { exit: gate }).stop('i1'))
    expect(error).toMatchObject({ certainty: 'not-applied' })
    expect(cloud.requests(route)).toEqual([])
  })

  it('is reset at the end of the lease while it is unanswered, and its effect is unknown', async () => {
    const asked = new Promise<void>((resolve) => {
      cloud.on(route, () => {
        // Once it has read all that there is: a reset in the middle of that looks like an end to it.
        setImmediate(resolve)
        return { instead: 'hang' }
      })
    })
    const outcome = failure(cloud.client({ tls }, { exit: gate }).stop('i1'))
    await asked
    gate.lapse()
    expect(await outcome).toMatchObject({ code: 'CONNECTION_LOST', certainty: 'unknown' })
    await expect.poll(() => cloud.broke, { timeout: 5_000 }).toEqual(['ECONNRESET'])
  })
})

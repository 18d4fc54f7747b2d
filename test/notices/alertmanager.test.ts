/** What an Alertmanager is sent, and what a real one makes of it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Notice } from '../../src/domain/notice.ts'
import type { Wire } from '../../src/domain/wire.ts'
import { alertsAddress } from '../../src/notices/alertmanager.ts'
import { receiver, type ReceiverSettings } from '../../src/notices/receiver.ts'
import { testNotice } from '../../src/notices/test-notice.ts'
import { english } from '../../src/notices/texts.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import { itsLogin, realAlertmanager, withoutAlertmanager, type RealAlertmanager } from './real-alertmanager.ts'
import { group, closed, everything, opened, Rig, verdict } from './rig.ts'

type Settings = Extract<ReceiverSettings, { kind: 'alertmanager' }>
const manager = (change: Partial<Settings> = {}): Settings => ({
  ...everything,
  ...{ kind: 'alertmanager', alerts: 'only', url: 'http://am', verify: true, limitMs: 5_000 },
  ...{ texts: english, showHosts: false, caFile: null, client: null, login: null, resolveTimeoutMs: 600_000 },
  ...change,
})
const around = { clock, cloud: 'prod', link: 'https://pages.example' }
const signal = new AbortController().signal

const trigger: Notice = {
  ...{ id: 'n1', topic: 'incident-held', audience: 'operator', severity: 'critical', receivers: ['am'] },
  ...{ mode: 'armed', cause: 7, at: '2026-01-01T00:01:00.000Z', code: 'FENCE_FAILED', message: 'cmp01 waits' },
  ...{ host: 'cmp01', segment: 'az1', incident: 'i', project: null, reference: null },
  alert: {
    ...{ key: 'incident:i', action: 'trigger', since: '2026-01-01T00:00:00.000Z', was: 'warning' },
    labels: { alertname: 'LifeboatIncident', incident: 'i', host: 'cmp01' },
  },
}
const resolve: Notice = {
  ...{ ...trigger, id: 'n2', topic: 'incident-closed', severity: 'info', at: '2026-01-01T00:09:00.000Z' },
  alert: { ...trigger.alert!, action: 'resolve', was: 'critical' },
}

interface Posted {
  url: string
  alerts: unknown[]
}

/** Everything that was posted, by a wire that takes it. */
async function posted(notice: Notice, change: Partial<Settings> = {}): Promise<Posted[]> {
  const calls: Posted[] = []
  const wire: Wire = (request) => {
    calls.push({ url: request.url ?? '', alerts: JSON.parse(String(request.data)) as unknown[] })
    return Promise.resolve({ status: 200, statusText: '', headers: {}, data: '', config: request })
  }
  await receiver('am', manager(change), { ...around, wire })({ notice, attempt: 1, signal })
  return calls
}

const labels = { alertname: 'LifeboatIncident', incident: 'i', host: 'cmp01', cloud: 'prod' }
const since = '2026-01-01T00:00:00.000Z'

describe('what is posted', () => {
  it('begins and ends at the latest now, though the wall clock was set back since it was told', async () => {
    const ahead = new Date(clock.wall() + 3_600_000).toISOString()
    const toldAhead = (notice: Notice): Notice => ({ ...notice, at: ahead, alert: { ...notice.alert!, since: ahead } })
    const sent = [...(await posted(toldAhead(trigger))), ...(await posted(toldAhead(resolve)))]
    const all = sent.flatMap((post) => post.alerts as { startsAt: string; endsAt: string; labels: object }[])
    for (const { startsAt } of all) expect(Date.parse(startsAt)).toBeLessThanOrEqual(clock.wall())
    expect(Date.parse(all.at(-1)?.endsAt ?? '')).toBeLessThanOrEqual(clock.wall())
  })

  it('is one alert from the first notice on, with the page that tells more; another severity ends the one before', async () => {
    const now = clock.wall()
    const [{ url, alerts } = { url: '', alerts: [] }] = await posted(trigger)
    const text = 'cmp01 waits\n\nhttps://pages.example/incidents/i'
    expect([url, alerts]).toEqual([
      'http://am/api/v2/alerts',
      [
        { labels: { ...labels, severity: 'warning' }, startsAt: since, endsAt: trigger.at },
        {
          labels: { ...labels, severity: 'critical' },
          annotations: {
            ...{ summary: 'cmp01: recovery on hold (FENCE_FAILED)', description: text },
            ...{ topic: 'incident-held', code: 'FENCE_FAILED', mode: 'armed' },
          },
          ...{ startsAt: since, endsAt: expect.any(String), generatorURL: 'https://pages.example/incidents/i' },
        },
      ],
    ])
    const { endsAt } = alerts[1] as { endsAt: string }
    expect(Date.parse(endsAt) - now - 600_000).toBeGreaterThanOrEqual(0)
    expect(Date.parse(endsAt) - now - 600_000).toBeLessThan(5_000)
  })

  it('ends with the end of its trouble, at the time of that', async () => {
    const ended = { labels: { ...labels, severity: 'critical' }, startsAt: since, endsAt: resolve.at }
    expect(await posted(resolve)).toEqual([{ url: 'http://am/api/v2/alerts', alerts: [ended] }])
  })

  it('never ends before it began, though the clock was set back', async () => {
    const [call] = await posted({ ...resolve, at: '2025-12-31T00:00:00.000Z' })
    expect(call?.alerts).toEqual([expect.objectContaining({ startsAt: since, endsAt: since })])
  })

  it('is nothing below its least severity, and what was above ends', async () => {
    const critical = { least: 'critical' } as const
    const calm: Notice = { ...trigger, severity: 'warning', alert: { ...trigger.alert!, was: null } }
    expect(await posted(calm, critical)).toEqual([])
    const calmed = await posted({ ...calm, alert: { ...trigger.alert!, was: 'critical' } }, critical)
    expect(calmed[0]?.alerts).toEqual([
      { labels: { ...labels, severity: 'critical' }, startsAt: since, endsAt: trigger.at },
    ])
  })

  it.each(['http://am', 'http://am/', 'http://am/api/v2/alerts'])('goes to the same address from %s', (url) => {
    expect(alertsAddress(url)).toBe('http://am/api/v2/alerts')
    expect(alertsAddress(url.replace('am', 'am/prefix'))).toBe('http://am/prefix/api/v2/alerts')
  })

  it('is in turn: the end of an alert waits for its renewal, which asks last what stands', async () => {
    const order: string[] = []
    let answer: () => void = () => undefined
    const wire: Wire = async (request) => {
      const [{ annotations }] = JSON.parse(String(request.data)) as [{ annotations?: unknown }]
      order.push(annotations === undefined ? 'ended' : 'stands')
      if (order.length === 1) await new Promise<void>((done) => (answer = done))
      return { status: 200, statusText: '', headers: {}, data: '', config: request }
    }
    const deliver = receiver('am', manager(), { ...around, wire })
    let standing = [trigger]
    const calm = { ...trigger, alert: { ...trigger.alert!, was: null } }
    const first = deliver.renewal?.send(() => [calm], signal)
    const ending = deliver({ notice: resolve, attempt: 1, signal })
    const second = deliver.renewal?.send(() => standing, signal)
    await new Promise((done) => setImmediate(done))
    expect(order).toEqual(['stands'])
    standing = []
    answer()
    expect(await Promise.all([first, ending, second])).toEqual([
      ...[
        { ok: true, result: 'HTTP 200' },
        { ok: true, result: 'HTTP 200' },
      ],
      { ok: true, result: 'no alert' },
    ])
    expect(order).toEqual(['stands', 'ended'])
  })
})

describe('its login', () => {
  it.each([
    [null, undefined],
    [{ username: 'lifeboat', password: 'pässword' }, 'Basic bGlmZWJvYXQ6cMOkc3N3b3Jk'],
    [{ token: 'abc' }, 'Bearer abc'],
  ])('%o is shown as %s, with renewals too', async (login, header) => {
    const shown: unknown[] = []
    const wire: Wire = (request) => {
      shown.push((request.headers as Record<string, unknown>)['authorization'])
      return Promise.resolve({ status: 200, statusText: '', headers: {}, data: '', config: request })
    }
    const deliver = receiver('am', manager({ login }), { ...around, wire })
    await deliver({ notice: trigger, attempt: 1, signal })
    await deliver.renewal?.send(() => [trigger], signal)
    expect(shown).toEqual([header, header])
  })
})

/** The notices of a rack of six that fails, and of its end, as the notice service made them. */
async function ofARack(): Promise<{ begins: Notice[]; ends: Notice[] }> {
  const hosts = ['cmp01', 'cmp02', 'cmp03', 'cmp04', 'cmp05', 'cmp06']
  let begins: Notice[] = []
  let ends: Notice[] = []
  await Rig.run({ receivers: { am: { ...everything, alerts: 'only' } } }, async (rig) => {
    const rack = group('domain:a', hosts)
    rig.held = () => [rack]
    const data = { code: 'BRAKE', message: 'full' } as const
    for (const { host, incident } of rack.members)
      await rig.append(
        verdict('host-down', { host }),
        { ...opened(incident), host },
        {
          ...{ kind: 'incident.held', host, incident, data },
        },
      )
    await rig.pass(10_000)
    begins = rig.queued()
    rig.held = () => []
    for (const { host, incident } of rack.members)
      await rig.append(verdict('healthy', { host, from: 'host-down' }), { ...closed(incident, 'returned'), host })
    await rig.pass(10_000)
    ends = rig.queued().slice(begins.length)
  })()
  return { begins, ends }
}

/** As if it had happened now: a real Alertmanager has a real clock. */
function asOfNow(notice: Notice): Notice {
  const { alert } = notice
  const at = new Date(clock.wall()).toISOString()
  const began = new Date(clock.wall() - 1_000).toISOString()
  return { ...notice, at, ...(alert !== undefined && { alert: { ...alert, since: alert.was === null ? at : began } }) }
}

describe.skipIf(withoutAlertmanager)('a real Alertmanager', () => {
  let real: RealAlertmanager
  beforeAll(async () => {
    real = await realAlertmanager()
  })
  afterAll(() => real.stop())

  const severities = async (name: string): Promise<string[]> =>
    (await real.standing()).flatMap(({ labels: { alertname, severity } }) =>
      alertname === name ? [severity ?? ''] : [],
    )

  it('takes a rack of six as seven alerts, one of them critical; groups them, and hears of their end', async () => {
    const deliver = receiver('am', manager({ url: real.url }), around)
    const { begins, ends } = await ofARack()
    for (const notice of begins)
      expect(await deliver({ notice: asOfNow(notice), attempt: 1, signal })).toEqual({ ok: true, result: 'HTTP 200' })
    await expect.poll(() => severities('LifeboatHost')).toHaveLength(6)
    expect(await severities('LifeboatHeld')).toEqual(['critical'])
    const said = (status: string, name: string): number[] =>
      real.sentOn
        .filter((one) => one.status === status && one.groupLabels['alertname'] === name)
        .map((one) => one.alerts.length)
    await expect.poll(() => [said('firing', 'LifeboatHost'), said('firing', 'LifeboatHeld')]).toEqual([[6], [1]])
    for (const notice of ends)
      expect(await deliver({ notice: asOfNow(notice), attempt: 1, signal })).toMatchObject({ ok: true })
    await expect.poll(() => real.standing()).toEqual([])
    // A flush may come between two of the ends: then more than one message tells them.
    const over = (name: string): { ended: number; last: string | undefined } => {
      const messages = real.sentOn.filter(({ groupLabels }) => groupLabels['alertname'] === name)
      const ended = messages.flatMap(({ alerts }) => alerts.filter(({ status }) => status === 'resolved'))
      return { ended: new Set(ended.map(({ labels }) => labels['host'])).size, last: messages.at(-1)?.status }
    }
    await expect.poll(() => over('LifeboatHost')).toEqual({ ended: 6, last: 'resolved' })
    await expect.poll(() => over('LifeboatHeld')).toEqual({ ended: 1, last: 'resolved' })
  })

  it('ends an alert that is not renewed, and keeps one that is', async () => {
    const deliver = receiver('am', manager({ url: real.url, resolveTimeoutMs: 5_000 }), around)
    const notice = asOfNow({ ...trigger, alert: { ...trigger.alert!, was: null } })
    await deliver({ notice, attempt: 1, signal })
    for (let round = 0; round < 7; round++) {
      await new Promise((done) => setTimeout(done, 1_000))
      await deliver.renewal?.send(() => [notice], signal)
      expect(await severities('LifeboatIncident')).toEqual(['critical'])
    }
    await expect.poll(() => severities('LifeboatIncident')).toEqual([])
  })

  it('keeps one alert when it becomes worse, and again when a restart sends it twice', async () => {
    const deliver = receiver('am', manager({ url: real.url }), around)
    const calm: Notice = { ...trigger, severity: 'warning', alert: { ...trigger.alert!, was: null } }
    await deliver({ notice: asOfNow(calm), attempt: 1, signal })
    await expect.poll(() => severities('LifeboatIncident')).toEqual(['warning'])
    for (let again = 0; again < 2; again++) await deliver({ notice: asOfNow(trigger), attempt: 1, signal })
    await expect.poll(() => severities('LifeboatIncident')).toEqual(['critical'])
    await deliver({ notice: asOfNow(resolve), attempt: 1, signal })
    await expect.poll(() => severities('LifeboatIncident')).toEqual([])
  })

  it('takes a test, which ends by itself', async () => {
    const about = { receiver: 'am', mode: 'armed', audience: 'operator', project: null, by: 'ann', nonce: 'n' } as const
    const deliver = receiver('am', manager({ url: real.url, resolveTimeoutMs: 3_000 }), around)
    const notice = testNotice({ ...about, wallMs: clock.wall() })
    expect(await deliver({ notice, attempt: 1, signal })).toEqual({ ok: true, result: 'HTTP 200' })
    expect(await severities('LifeboatTest')).toEqual(['info'])
    await expect.poll(() => severities('LifeboatTest')).toEqual([])
  })
})

describe.skipIf(withoutAlertmanager)('a real Alertmanager that asks for a login', () => {
  let real: RealAlertmanager
  beforeAll(async () => {
    real = await realAlertmanager({ asksForLogin: true })
  })
  afterAll(() => real.stop())

  const refusal = 'HTTP 401: it refuses the login, check it'
  const wrong = { ...itsLogin, password: 'wrong-password' }
  const through = (login: Settings['login']) => receiver('am', manager({ url: real.url, login }), around)

  it('takes alerts with it; without one, or with a wrong one, it says what is missing, and they are not given up', async () => {
    const send = (login: Settings['login']) => through(login)({ notice: asOfNow(trigger), attempt: 1, signal })
    expect(await send(null)).toEqual({ ok: false, problem: 'HTTP 401: it asks for a login', final: false })
    expect(await send(wrong)).toEqual({ ok: false, problem: refusal, final: false })
    expect(await real.standing()).toEqual([])
    expect(await send(itsLogin)).toEqual({ ok: true, result: 'HTTP 200' })
    await expect.poll(() => real.standing()).toMatchObject([{ labels: { alertname: 'LifeboatIncident' } }])
  })

  it(
    'that is wrong stands in the health of the receiver until it is corrected, and is nowhere on record',
    Rig.run({ receivers: { am: { ...everything, alerts: 'only' } } }, async (rig) => {
      let deliver = through(wrong)
      rig.answers = (_receiver, notice, attempt) => deliver({ notice, attempt, signal })
      await rig.append(verdict('host-down'))
      await rig.pass(1_000)
      // Time stands still while the answer is on its way.
      const health = async () => (await rig.pass(0), rig.service.health()[0])
      await expect.poll(health).toMatchObject({ waiting: 1, problem: refusal })
      deliver = through(itsLogin)
      await rig.pass(5_000)
      await expect.poll(health).toMatchObject({ waiting: 0, problem: null })
      expect(JSON.stringify(rig.journal.read())).not.toMatch(/wrong-password|d3JvbmctcGFzc3dvcmQ/)
    }),
  )
})

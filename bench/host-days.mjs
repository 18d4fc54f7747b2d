/**
 * Simulated days of hosts: heartbeats as loaded, pausing and unlucky hosts send them, and what detectors make of them. No
 * HTTP and no real time; the same seed gives the same days. The rules under measurement are handed in, so that the
 * benchmark runs them as built and the tests as written.
 */

const second = 1_000
const minute = 60 * second
export const day = 24 * 60 * minute
/** Nova's service_down_time. */
const novaDownMs = 60 * second

/** A plain repeatable generator (mulberry32): numbers from 0 to 1. */
export function dice(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * How hosts of one kind beat. nova-compute's loop writes, then waits for what is left of its interval: a write that was
 * late is followed by the next one on time, and a pause of the process by one at once.
 *
 *   write(host)   ms from the tick of the loop until the row is written; null: the update is lost
 *   pause(host)   ms that the whole process stands still, from some moment between two ticks on
 *   stretch(host) factor on the interval at this time of its day
 */
export const models = {
  regular: { what: 'every 10 s, 50 ms of latency', intervalMs: 10 * second },
  jitter: {
    what: 'each write takes up to 40 % of the interval',
    intervalMs: 10 * second,
    write: ({ random }) => random() * 4 * second,
  },
  pauses: {
    what: 'the process pauses once in 50 beats (garbage collection, a hung disk) for up to 2 intervals',
    intervalMs: 10 * second,
    pause: ({ random }) => (random() < 0.02 ? random() * 20 * second : 0),
  },
  hangs: {
    what: 'as pauses, once in 100 beats, for up to 4 intervals',
    intervalMs: 10 * second,
    pause: ({ random }) => (random() < 0.01 ? random() * 40 * second : 0),
  },
  slow: {
    what: 'the interval grows to 2.5 times in an hour of load, and every fifth beat is 3 s late',
    intervalMs: 10 * second,
    write: ({ random }) => (random() < 0.2 ? 3 * second : 50),
    stretch: ({ now, phase }) => 1 + 1.5 * Math.max(0, Math.sin((2 * Math.PI * (now + phase)) / (4 * 60 * minute))),
  },
  hiccups: {
    what: 'the broker stands still 6 times a day for 5 to 45 s: the beats of all hosts come at its end',
    intervalMs: 10 * second,
    hiccups: { aDay: 6, fromMs: 5 * second, toMs: 45 * second },
  },
  lost: {
    what: 'one update in 50 never reaches the database',
    intervalMs: 10 * second,
    write: ({ random }) => (random() < 0.02 ? null : 50),
  },
  quick: {
    what: 'every 2 s with 0.5 s of jitter, polled every second: stamps of whole seconds collide',
    intervalMs: 2 * second,
    pollMs: second,
    write: ({ random }) => random() * 0.5 * second,
  },
}

/** Times at which the broker stands still, the same for all hosts of a fleet: [from, to] in ms of the day. */
function hiccupsOf(model, random) {
  const { aDay, fromMs, toMs } = model.hiccups ?? { aDay: 0, fromMs: 0, toMs: 0 }
  return Array.from({ length: aDay }, () => {
    const from = random() * day
    return [from, from + fromMs + random() * (toMs - fromMs)]
  })
}

/** The writes of one host, in order, from 0 until it dies: ms of its day. */
export function* writesOf(model, { random, hiccups, diesAt }) {
  const host = { random, now: 0, phase: random() * 4 * 60 * minute }
  let last = -1
  for (let tick = random() * model.intervalMs; tick < diesAt;) {
    host.now = tick
    const took = model.write ? model.write(host) : 50
    let at = took === null ? null : tick + took
    for (const [from, to] of hiccups) if (at !== null && at >= from && at < to) at = to
    if (at !== null && at > last && at < diesAt) yield (last = at)
    const paused = model.pause?.(host) ?? 0
    const resumes = paused === 0 ? 0 : tick + random() * model.intervalMs + paused
    tick = Math.max(tick + model.intervalMs * (model.stretch?.(host) ?? 1), at ?? 0, resumes)
  }
}

/**
 * Detectors alone, without probes and without Nova's word: at which polls each of them would have let a death be
 * confirmed, while the host lived (false), and how long after its death.
 *
 * @param rules { firstSight, take, intervalOf, settings } of the monitor
 * @param detectors name -> (silence) => boolean, with { pulse, silentMs, intervalMs, novaDown, gaps }
 * @returns name -> { falseAlarms, latenciesMs }
 */
export function detectorsOver(model, { rules, detectors, hosts, seed, lengthMs = day }) {
  const results = Object.fromEntries(Object.keys(detectors).map((name) => [name, { falseAlarms: 0, latenciesMs: [] }]))
  const pollMs = model.pollMs ?? rules.settings.pollIntervalMs
  const settings = { ...rules.settings, pollIntervalMs: pollMs, defaultIntervalMs: model.intervalMs }
  for (let n = 0; n < hosts; n++) {
    const random = dice(seed * 1_000_003 + n)
    const hiccups = hiccupsOf(model, random)
    // Nobody dies in a hiccup: what is measured there is the hiccup.
    let diesAt = lengthMs + random() * 10 * minute
    for (const [from, to] of hiccups) if (diesAt >= from && diesAt < to + minute) diesAt = to + minute
    oneHost(model, { rules, settings, detectors, results, random, hiccups, diesAt, pollMs })
  }
  return results
}

function oneHost(model, { rules, settings, detectors, results, random, hiccups, diesAt, pollMs }) {
  const writes = writesOf(model, { random, hiccups, diesAt })
  const names = Object.keys(detectors)
  const waiting = new Set(names)
  const alarmed = new Set()
  let next = writes.next().value
  let lastWrite = 0
  const row = rowOf('h', 0)
  let pulse = rules.firstSight(row, 0)
  const history = new GapHistory()
  let intervalMs = model.intervalMs
  for (let now = random() * pollMs; waiting.size > 0 && now < diesAt + 60 * minute;) {
    while (next !== undefined && next <= now) {
      lastWrite = next
      next = writes.next().value
    }
    const stamp = stampOf(lastWrite)
    if (stamp !== row.updatedAt) {
      row.updatedAt = stamp
      const before = pulse
      pulse = rules.take(pulse, row, now)
      if (pulse.gaps !== before.gaps) history.add(now - before.lastBeatAt)
      intervalMs = rules.intervalOf(pulse, settings)
      alarmed.clear()
    }
    const silentMs = now - pulse.silentSince
    const suspect = silentMs >= settings.suspectAfterBeats * intervalMs
    if (suspect && pulse.everBeat) {
      const novaDown = now - Math.floor(lastWrite / second) * second > novaDownMs
      const silence = { pulse, silentMs, intervalMs, novaDown, history, settings }
      for (const name of names) {
        if (alarmed.has(name) || !detectors[name](silence)) continue
        alarmed.add(name)
        if (now < diesAt) results[name].falseAlarms++
        else if (waiting.delete(name)) results[name].latenciesMs.push(now - diesAt)
      }
    }
    // The death's own silence begins with its last beat: an alarm raised while it still lived is late for nobody.
    if (now >= diesAt)
      for (const name of alarmed) if (waiting.delete(name)) results[name].latenciesMs.push(now - diesAt)
    // As the daemon does it: a host whose probes say dead is looked at four times as often.
    now += suspect && now >= diesAt ? pollMs / 4 : pollMs
  }
}

/** Mean and deviation of the last 1,000 gaps, pauses included: what the detector of the paper is given. */
class GapHistory {
  #gaps = []
  #sum = 0
  #squares = 0
  add(gap) {
    this.#gaps.push(gap)
    this.#sum += gap
    this.#squares += gap * gap
    if (this.#gaps.length <= 1_000) return
    const old = this.#gaps.shift()
    this.#sum -= old
    this.#squares -= old * old
  }
  get mean() {
    return this.#gaps.length > 3 ? this.#sum / this.#gaps.length : null
  }
  get deviation() {
    const mean = this.#sum / this.#gaps.length
    return Math.sqrt(Math.max(0, this.#squares / this.#gaps.length - mean * mean))
  }
}

/**
 * The whole monitor over a fleet of hosts of one kind: polls, probes, control-plane check, freeze, verdict table.
 *
 * While a host lives, its probes are no help at all: one kind is always unknown, the other says dead, wrongly, for an hour
 * of each day, else unknown. At the end of the day `deaths` hosts die one after another, and both kinds say so.
 *
 * @param rules { Monitor, settings, pauseBeforePoll }
 * @returns { falseVerdicts: [host, reason][], freezes, latenciesMs, missedBeats, undetected }
 */
export async function fleetDay(model, { rules, hosts, deaths, seed, lengthMs = day }) {
  const random = dice(seed)
  const pollIntervalMs = model.pollMs ?? rules.settings.pollIntervalMs
  const settings = { ...rules.settings, pollIntervalMs, defaultIntervalMs: model.intervalMs }
  const hiccups = hiccupsOf(model, random).filter(([, to]) => to < lengthMs - 5 * minute)
  const fleet = Array.from({ length: hosts }, (_, n) => {
    const diesAt = n < deaths ? lengthMs + n * 4 * minute + random() * minute : Infinity
    const own = dice(seed * 7_919 + n)
    const writes = writesOf(model, { random: own, hiccups, diesAt })
    const liesFrom = random() * (lengthMs - 60 * minute)
    return { row: rowOf(`host-${n}`, 0), writes, next: writes.next().value, last: 0, diesAt, liesFrom }
  })
  const workers = ['nova-conductor', 'nova-scheduler'].map((binary) => ({ ...rowOf('ctl', 0), binary }))
  let now = 0
  const clock = { now: () => now, wall: () => now, after: () => () => undefined }
  const segment = { name: 's', probes: ['tcp', 'ping'], onDisabledDown: 'hold' }
  const monitor = new rules.Monitor({
    cloud: {
      listAggregates: async () => [],
      listServices: async () => ({
        services: [...workers, ...fleet.map(({ row }) => row)],
        serverTimeMs: null,
        tookMs: 0,
      }),
    },
    clock,
    segmentOf: () => segment,
    probes: new Map(['tcp', 'ping'].map((kind) => [kind, liar(kind, fleet, () => now)])),
    settings,
    ours: () => false,
    observer: {},
  })
  const found = { falseVerdicts: [], freezes: 0, latenciesMs: [], missedBeats: [], undetected: deaths }
  const end = lengthMs + deaths * 4 * minute + 10 * minute
  while (now < end && found.undetected > 0) {
    for (const host of fleet) {
      while (host.next !== undefined && host.next <= now) {
        host.last = host.next
        host.row.updatedAt = stampOf(host.last)
        host.next = host.writes.next().value
      }
      host.row.state = now - Math.floor(host.last / second) * second > novaDownMs ? 'down' : 'up'
    }
    for (const worker of workers) worker.updatedAt = stampOf(now - (now % model.intervalMs))
    const report = await monitor.poll()
    if (report.froze) found.freezes++
    for (const { host: name, kind, reason, evidence } of report.changed) {
      if (kind !== 'host-down' && kind !== 'declared-down' && kind !== 'service-down') continue
      const host = fleet.find(({ row }) => row.host === name)
      if (now < host.diesAt) found.falseVerdicts.push([name, reason])
      else if (!host.found) {
        host.found = true
        found.undetected--
        found.latenciesMs.push(now - host.diesAt)
        found.missedBeats.push(evidence.missedBeats)
      }
    }
    now += rules.pauseBeforePoll(report, pollIntervalMs)
  }
  return found
}

function liar(kind, fleet, now) {
  const byName = new Map(fleet.map((host) => [host.row.host, host]))
  return {
    name: kind,
    kind,
    read: async (name) => {
      const host = byName.get(name)
      const lies = kind === 'ping' && now() >= host.liesFrom && now() < host.liesFrom + 60 * minute
      const answer = now() >= host.diesAt || lies ? 'dead' : 'unknown'
      return { probe: kind, kind, answer, detail: '', at: '' }
    },
  }
}

function rowOf(host, at) {
  return {
    id: host,
    binary: 'nova-compute',
    host,
    zone: 'nova',
    status: 'enabled',
    state: 'up',
    updatedAt: stampOf(at),
    forcedDown: false,
    disabledReason: null,
  }
}

/** Whole seconds, as Nova's database keeps them. */
function stampOf(at) {
  return String(Math.floor(at / second))
}

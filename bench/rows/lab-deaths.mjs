/**
 * Row 2 on the lab's Nova over many deaths: hosts without instances die in turn, each at its own moment between two heartbeats, under
 * daemons that observe, so that nothing but the verdict takes time. Under one daemon a host dies once: its return would teach the
 * daemon that this host pauses, and such a host is given ten heartbeats (docs/detection.md).
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { DaemonProcess } from '../daemon-process.mjs'
import { percentile, sleep, until } from '../figures.mjs'
import { NovaClient } from '../nova.mjs'
import { detectionFigure } from './detection.mjs'
import { access, computeUrl, hosts, lab, labBeatMs, labConfig, tidy } from './lab.mjs'

/** Heartbeats after which the daemon knows how even a host's are (docs/detection.md): a daemon that has run for a while does. */
const learntAfterBeats = 17

/** @param options { deaths } */
export async function labDeathRows({ deaths }) {
  const nova = new NovaClient(access, computeUrl)
  const directory = mkdtempSync(join(tmpdir(), 'lifeboat-bench-'))
  const cloudsFile = join(directory, 'clouds.yaml')
  const config = join(directory, 'lifeboat.yaml')
  writeFileSync(cloudsFile, await lab('clouds'))
  writeFileSync(config, stringify({ ...parse(readFileSync(labConfig, 'utf8')), mode: 'observe' }))
  const seen = []
  try {
    await tidy(nova)
    while (seen.length < deaths) {
      const stateDir = join(directory, `state-${seen.length}`)
      const daemon = new DaemonProcess({ config, stateDir, port: 9393, env: { OS_CLIENT_CONFIG_FILE: cloudsFile } })
      // The deaths spread over one heartbeat.
      const moments = Array.from({ length: hosts }, (_, n) => ((seen.length + n) / deaths) * labBeatMs)
      seen.push(...(await eachHostDies(daemon, moments)))
    }
  } finally {
    await tidy(nova)
    rmSync(directory, { recursive: true, force: true })
  }
  const missed = seen.map(({ missedBeats }) => missedBeats)
  const how = `missed heartbeats at the verdict, ${seen.length} deaths, heartbeat 2 s, poll 1 s`
  const figure = detectionFigure('lab', missed, how)
  const fromDeath = seen.map(({ beatsFromDeath }) => beatsFromDeath)
  return [{ ...figure, note: `${figure.note}; ${percentile(fromDeath, 0.5).toFixed(2)} from the death itself, median` }]
}

async function eachHostDies(daemon, moments) {
  const seen = []
  try {
    await daemon.start()
    await daemon.watched(hosts)
    await sleep(learntAfterBeats * labBeatMs)
    for (const [n, moment] of moments.entries()) {
      await sleep(moment)
      seen.push(await oneDeath(daemon, `cmp0${n + 1}`))
    }
  } finally {
    await daemon.stop()
  }
  return seen
}

async function oneDeath(daemon, host) {
  const died = JSON.parse(await lab('crash', host))[host] * 1_000
  const verdictAfter = (kind, since) =>
    until(`${host} to be ${kind}`, 60_000, () => {
      const [verdict] = daemon.entries({ host, kinds: ['verdict.changed'], newestFirst: true, limit: 1 })
      return verdict?.data.kind === kind && Date.parse(verdict.at) > since ? verdict : undefined
    })
  const verdict = await verdictAfter('host-down', died)
  await lab('start', host)
  await verdictAfter('healthy', Date.parse(verdict.at))
  return {
    beatsFromDeath: (Date.parse(verdict.at) - died) / labBeatMs,
    missedBeats: verdict.data.evidence.missedBeats,
  }
}

/**
 * Each scenario is played from its script, and the facts of its journal are compared with the expectation beside it.
 * `npm run scenarios:record` writes the expectations again; what it changes must be read like code.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { loadScenario } from '../../src/rehearsal/scenario.ts'
import { rehearse } from '../../src/rehearsal/rehearse.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const recording = process.env['RECORD_SCENARIOS'] === '1'
const names = readdirSync(here, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))

describe('the scenario', () => {
  it.each(names)('%s', async (name) => {
    const folder = join(here, name)
    const expectation = join(folder, 'journal.txt')
    const transcript = await rehearse(loadScenario(join(folder, 'scenario.yaml')))
    if (recording) writeFileSync(expectation, transcript.text())
    expect(existsSync(join(folder, 'README.md')), `${name} says why its outcome is right`).toBe(true)
    expect(transcript.text()).toBe(readFileSync(expectation, 'utf8'))
  })
})

/** Together they have every kind of trouble: kills, restarts, lost answers, clock steps, reloads, notices and many instances. */
const playedTwice = [
  'brake-state-survives-a-restart',
  'every-kind-at-once',
  'host-returns-automatically',
  'killed-before-a-notice-is-sent',
  'killed-between-call-and-journal-write',
  'lost-answer-is-settled-by-reading',
  'receivers-change-with-a-reload',
  'storage-fence-survives-a-restart',
  'wall-clock-steps-back-two-hours',
]

describe('the same script gives the same journal, byte for byte', () => {
  it.each(playedTwice)('%s', async (name) => {
    const play = async (): Promise<string> => (await rehearse(loadScenario(join(here, name, 'scenario.yaml')))).whole()
    expect(await play()).toBe(await play())
  })
})

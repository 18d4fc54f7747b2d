/**
 * Each scenario is played from its script, and the facts of its journal are compared with the expectation beside it.
 * `npm run scenarios:record` writes the expectations again; what it changes must be read like code.
 *
 * Played in parts: a file is one worker's, and in one file they would take as long as all the other tests.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { loadScenario } from '../../src/rehearsal/scenario.ts'
import { rehearse } from '../../src/rehearsal/rehearse.ts'
import type { Transcript } from '../../src/rehearsal/transcript.ts'

const parts = 3

const here = fileURLToPath(new URL('.', import.meta.url))
const recording = process.env['RECORD_SCENARIOS'] === '1'
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

const folders = readdirSync(here, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
// Those first: each part has some of them, however many scenarios there are.
const names = [...playedTwice, ...folders.filter((name) => !playedTwice.includes(name))]

const play = (name: string): Promise<Transcript> => rehearse(loadScenario(join(here, name, 'scenario.yaml')))

/** @param part from 1 */
export function playPart(part: number): void {
  const ofThis = names.filter((_, index) => index % parts === part - 1)
  /** What has been played is not played a third time. */
  const played = new Map<string, string>()

  describe('the scenario', () => {
    it.each(ofThis)('%s', async (name) => {
      const folder = join(here, name)
      const expectation = join(folder, 'journal.txt')
      const transcript = await play(name)
      if (playedTwice.includes(name)) played.set(name, transcript.whole())
      if (recording) writeFileSync(expectation, transcript.text())
      expect(existsSync(join(folder, 'README.md')), `${name} says why its outcome is right`).toBe(true)
      expect(transcript.text()).toBe(readFileSync(expectation, 'utf8'))
    })
  })

  describe('the same script gives the same journal, byte for byte', () => {
    it.each(playedTwice.filter((name) => ofThis.includes(name)))('%s', async (name) => {
      const first = played.get(name) ?? (await play(name)).whole()
      expect((await play(name)).whole()).toBe(first)
    })
  })
}

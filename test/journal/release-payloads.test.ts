/**
 * What src/domain/step-payloads.ts promises of a step's rows, every journal of every release has. A property that an older release did not
 * write must be optional there, or a restarted daemon believes in something that is not on its disk.
 */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { foldIncidents, type StepRecord } from '../../src/domain/incident.ts'
import type { AnyStepKind, StepPayloads } from '../../src/domain/step-payloads.ts'
import { openJournalReader } from '../../src/journal/reader.ts'
import { temporaryDirectory } from './fixtures.ts'
import { incident, recorded, releases } from './release-journals.ts'

/** The properties that are promised, each once: a new one is a compile error here until it is listed. */
type Promised<T> = T extends string ? never : { [P in keyof T as object extends Pick<T, P> ? never : P]: true }
type PromisedOf<K extends AnyStepKind> = {
  before: Promised<StepPayloads[K]['before']>
  request: Promised<StepPayloads[K]['request']>
  result: Promised<Exclude<StepPayloads[K]['result'], { nothingToDo: unknown }>>
}

const mark = { vmState: true, taskState: true, locked: true, lockedReason: true } as const
const power = { host: true, vmState: true, taskState: true, powerState: true } as const
const flags = { forcedDown: true, status: true, disabledReason: true } as const

const promised = {
  evacuate: {
    before: { ...power, spentEvacuations: true, knownRequests: true, cloudTime: true },
    request: { landing: true, asProject: true, fencedBy: true },
    result: { migration: true, host: true, vmState: true, powerState: true },
  },
  start: { before: power, request: { power: true }, result: power },
  fence: { before: { verdict: true }, request: { methods: true }, result: { method: true, strength: true } },
  'force-down': { before: flags, request: {}, result: { ...flags, updatedAt: true } },
} satisfies { [K in AnyStepKind]?: PromisedOf<K> }

/** Of these the request is words. */
const marks = { before: mark, result: mark } satisfies Omit<PromisedOf<'lock' | 'unlock'>, 'request'>

function promisedOf({ kind }: StepRecord): Partial<Record<'before' | 'request' | 'result', object>> | null {
  if (kind === 'lock' || kind === 'unlock' || kind === 'reset-state') return marks
  return kind === 'evacuate' || kind === 'start' || kind === 'fence' || kind === 'force-down' ? promised[kind] : null
}

/** `kind.part.property` for whatever is promised and not there. */
function missing(step: StepRecord): string[] {
  return Object.entries(promisedOf(step) ?? {}).flatMap(([part, properties]) => {
    const noted: unknown = { ...step }[part as 'before' | 'request' | 'result']
    if (noted === null || (typeof noted === 'object' && 'nothingToDo' in noted)) return []
    return Object.keys(properties)
      .filter((name) => !Object.hasOwn(Object(noted) as object, name))
      .map((name) => `${step.kind}.${part}.${name}`)
  })
}

test('every journal of every release has what is promised of the rows of a step', () => {
  const steps = recorded().flatMap(([release, moment]) => {
    const path = join(temporaryDirectory(), 'journal.db')
    copyFileSync(join(releases, release, `${moment}.db`), path)
    const reader = openJournalReader(path)
    const found = foldIncidents(reader.read({ incident })).get(incident)
    reader.close()
    return [found?.hostSteps ?? [], ...[...(found?.instances.values() ?? [])].map((one) => one.steps)].flatMap(
      (rows) => [...rows.values()],
    )
  })
  expect([...new Set(steps.flatMap(missing))]).toEqual([])
  const kinds = new Set(steps.filter((step) => promisedOf(step) !== null).map(({ kind }) => kind))
  expect([...kinds].toSorted()).toEqual(['evacuate', 'fence', 'force-down', 'lock', 'reset-state', 'start', 'unlock'])
})

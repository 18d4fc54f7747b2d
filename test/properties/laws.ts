/** The laws of a recovery, checked over a whole journal and what the simulated cloud says truly happened. */
import { foldIncidents } from '../../src/domain/incident.ts'
import type { Scenario } from '../../src/rehearsal/scenario.ts'
import type { Stage } from '../../src/rehearsal/stage.ts'
import { ranTwice, recoveredTwice } from './laws-of-doubles.ts'
import {
  goesOnAfterItsEnd,
  instancesWithoutLine,
  marksLeftBehind,
  openForEver,
  stoppedOnesThatRun,
  wasOrdered,
} from './laws-of-ends.ts'
import { evacuatedThoughAlive, givenUpForTheCloud, provenByAnOldWord } from './laws-of-life.ts'
import { lockedOut } from './laws-of-locks.ts'
import { fencedWithoutALook, sentWithoutALook } from './laws-of-looks.ts'
import { contradictsTheOneBefore } from './laws-of-memory.ts'
import { fencedWhileHeld, stillSetAside } from './laws-of-orders.ts'
import { begunAgainstTheRules, fencedAgainstTheBrake, rulesAtFirst } from './laws-of-rules.ts'
import { fencedAgainstAPerson, overwrittenDisables } from './laws-of-services.ts'
import { evacuationsWithoutProof, moreThanTheBrakeAllows, twoInFlight } from './laws-of-steps.ts'

/** Every law that was broken, in words; none is what must come out. */
export function brokenLaws(stage: Stage, scenario: Scenario): string[] {
  const ran = { ...stage.simulator.truth(), requests: stage.simulator.requests() }
  const { entries, verified } = stage.readJournal()
  const incidents = foldIncidents(entries)
  return [
    ...(verified.broken === null ? [] : [`the journal is broken at ${verified.broken.seq}`]),
    ...evacuationsWithoutProof(entries),
    ...twoInFlight(entries),
    ...fencedWhileHeld(entries),
    ...fencedAgainstTheBrake(entries),
    ...fencedAgainstAPerson(entries, ran.requests, {
      recordOf: (host) => stage.simulator.world.host(host).service.uuid,
      holdsForcedDown: rulesAtFirst(scenario).on_declared_down === 'hold',
    }),
    ...begunAgainstTheRules(entries, scenario),
    ...overwrittenDisables(ran.requests),
    ...evacuatedThoughAlive(entries),
    ...provenByAnOldWord(entries),
    ...givenUpForTheCloud(entries),
    ...sentWithoutALook(stage),
    ...fencedWithoutALook(entries, ran.requests),
    ...ranTwice(ran, entries, incidents),
    ...recoveredTwice(ran, entries, incidents),
    ...contradictsTheOneBefore(entries, orderedOf(stage, scenario)),
    ...stillSetAside(entries, stage, incidents),
    ...moreThanTheBrakeAllows(entries, scenario),
    ...stoppedOnesThatRun(stage, scenario, incidents),
    ...marksLeftBehind(stage, scenario, incidents),
    ...lockedOut(entries, stage),
    ...instancesWithoutLine(incidents),
    ...goesOnAfterItsEnd(entries),
    ...openForEver(incidents, stage),
  ]
}

function orderedOf(stage: Stage, scenario: Scenario): Set<string> {
  const names = scenario.instances.map(({ name }) => name).filter((name) => wasOrdered(scenario, name))
  return new Set(names.map((name) => stage.instance(name).uuid))
}

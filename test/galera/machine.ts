/** A daemon's part in a shared journal on real nodes, on connections of its own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { openJournal, type JournalWriter } from '../../src/journal/journal.ts'
import { identityOf } from '../../src/journal/shared/identity.ts'
import { sharedJournal, type SharedJournal } from '../../src/journal/shared/journal.ts'
import type { SharedStore } from '../../src/journal/shared/store.ts'
import { Life } from '../../src/rehearsal/life.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import type { Stage } from './stage.ts'

export class Machine {
  readonly name: string
  readonly shared: SharedJournal
  readonly copy: JournalWriter
  /** Entries that its copy put back into the store. */
  putBack = 0
  readonly #life = new Life(clock)
  readonly #store: SharedStore
  #isDead = false

  /** @param directory of its copy, which stays there from one start to the next */
  constructor(name: string, store: SharedStore, directory: string) {
    this.name = name
    this.#store = store
    const path = join(directory, `${name}.db`)
    this.copy = openJournal(path, { clock: this.#life })
    this.shared = sharedJournal({
      ...{ store, copy: this.copy, clock: this.#life, leaseMs: 6_000, cloud: 'blue', identity: identityOf(name, path) },
      about: () => ({
        ...{ name, address: '', version: '1', mode: 'armed', configDigest: 'd'.repeat(64), goodPollAgeMs: 1_000 },
      }),
      told: (event) => {
        if (event.kind === 'put-back') this.putBack += event.entries
      },
      ...{ shouldHandOver: () => undefined, copyTrouble: () => undefined },
    })
    void this.shared.tenure.untilActive(new AbortController().signal)
  }

  get state(): string {
    return this.shared.tenure.state
  }

  /** Records something. */
  records(): void {
    this.shared.journal.append([{ kind: 'alarm.raised', data: { code: 'ACT', message: this.name } }])
  }

  /** Records and sends something, as a step does. Resolves once it may leave. */
  async acts(): Promise<void> {
    this.records()
    await this.shared.tenure.permit()
  }

  dies(): void {
    if (this.#isDead) return
    this.#isDead = true
    this.#life.end()
    void this.#store.close()
    this.shared.journal.close()
  }
}

/** What starts machines on the nodes of a stage, for the tests of one file: each begins with empty tables, and no machine outlives it. */
export class Machines {
  /** Of the copies of one test. */
  directory = ''
  readonly #stage: Stage
  readonly #running: Machine[] = []

  constructor(stage: Stage) {
    this.#stage = stage
    beforeAll(() => stage.cluster.start())
    beforeEach(async () => {
      await stage.cluster.tables()
      this.directory = mkdtempSync(join(tmpdir(), 'lifeboat-machines-'))
    })
    afterEach(async () => {
      for (const machine of this.#running.splice(0)) machine.dies()
      await stage.closeStores()
      rmSync(this.directory, { recursive: true, force: true })
    })
    afterAll(() => stage.cluster.stop())
  }

  start(name: string): Machine {
    const machine = new Machine(name, this.#stage.store(1), this.directory)
    this.#running.push(machine)
    return machine
  }
}

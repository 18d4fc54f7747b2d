/** What every suite on the lab needs: its cloud, its tenants, a daemon of its own for each test, and hosts that are well again. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { parse, stringify } from 'yaml'
import type { Entry } from '../../src/domain/entry.ts'
import type { Incident } from '../../src/domain/incident.ts'
import type { CloudUnderTest } from '../contract/cloud-under-test.ts'
import { DaemonProcess, type DaemonOptions } from './daemon-process.ts'
import { lab, labCloud } from './lab.ts'
import { Tenants, truth } from './tenants.ts'

export class LabStage {
  readonly cloud: CloudUnderTest
  readonly tenants: Tenants
  readonly cloudsFile: string
  daemon: DaemonProcess
  readonly #directory: string

  private constructor(cloud: CloudUnderTest, directory: string) {
    this.cloud = cloud
    this.tenants = new Tenants(cloud)
    this.#directory = directory
    this.cloudsFile = join(directory, 'clouds.yaml')
    this.daemon = this.freshDaemon()
  }

  static async open(prefix: string): Promise<LabStage> {
    const cloud = await labCloud(prefix)
    const stage = new LabStage(cloud, mkdtempSync(join(tmpdir(), 'lifeboat-lab-')))
    const [clouds] = await Promise.all([lab('clouds'), cloud.tidy()])
    writeFileSync(stage.cloudsFile, clouds)
    return stage
  }

  /** A daemon that has not started, on config/lab.yaml with `changes` laid over its segment, and sections of their own. */
  freshDaemon(
    changes: {
      segment?: object
      fencing?: object
      web?: object
      masakari_api?: object
      http?: object
      shared_journal?: object
      defaults?: object
      executor?: object
      fence_retry?: string
      fence_retry_max?: string
      /** Instead of those of the file, which take in every host. */
      segments?: object[]
    } = {},
    process: Pick<DaemonOptions, 'env' | 'gid'> = {},
  ): DaemonProcess {
    const config = parse(readFileSync('config/lab.yaml', 'utf8')) as {
      segments: object[]
      fencing: object
      web?: object
      masakari_api?: object
      http?: object
      shared_journal?: object
      defaults?: object
      executor?: object
      fence_retry?: string
      fence_retry_max?: string
    }
    if (changes.http !== undefined) config.http = changes.http
    if (changes.fence_retry !== undefined) config.fence_retry = changes.fence_retry
    if (changes.fence_retry_max !== undefined) config.fence_retry_max = changes.fence_retry_max
    if (changes.executor !== undefined) config.executor = { ...config.executor, ...changes.executor }
    if (changes.shared_journal !== undefined) config.shared_journal = changes.shared_journal
    config.segments = changes.segments ?? config.segments.map((segment) => ({ ...segment, ...changes.segment }))
    if (changes.defaults !== undefined) config.defaults = changes.defaults
    config.fencing = { ...config.fencing, ...changes.fencing }
    config.web = { listen: false, ...changes.web }
    config.masakari_api = { listen: false, ...changes.masakari_api }
    const file = join(this.#directory, `lab-${crypto.randomUUID()}.yaml`)
    writeFileSync(file, stringify(config))
    this.daemon = new DaemonProcess({ ...process, cloudsFile: this.cloudsFile, config: file })
    return this.daemon
  }

  /** Starts the daemon and waits until it has seen every host beat. */
  async watch(): Promise<void> {
    await this.daemon.start()
    await this.daemon.watched()
  }

  /** The same beside `work`: the guests that a test begins with boot meanwhile. */
  watchBeside<T>(work: Promise<T>): Promise<T> {
    return this.daemon.watchBeside(work)
  }

  async tidy(): Promise<void> {
    await this.daemon.stop()
    await this.cloud.tidy()
    rmSync(this.daemon.stateDir, { recursive: true, force: true })
  }

  close(): void {
    rmSync(this.#directory, { recursive: true, force: true })
  }

  has(test: (entry: Entry) => boolean): boolean {
    return this.daemon.entries().some(test)
  }

  /** Status of each evacuation of an instance, in Nova's words. */
  async evacuations(id: string): Promise<string[]> {
    const records = await this.tenants.steps.migrations(`instance_uuid=${id}&migration_type=evacuation`)
    return records.map((record) => String(record.status))
  }

  /** No guest of the lab was started while it ran elsewhere since `since` (epoch ms). */
  async nothingRanTwice(since: number): Promise<void> {
    const { doubles } = (await truth()) as { doubles: { t?: number }[] }
    expect(doubles.filter((double) => (double.t ?? 0) * 1000 >= since)).toEqual([])
  }
}

/** How an instance's recovery ended, for assertions that say what came instead. */
export function outcomeOf(incident: Incident, id: string): string {
  const outcome = incident.instances.get(id)?.outcome
  return outcome === undefined || outcome === null ? 'none' : `${outcome.outcome} ${outcome.code}: ${outcome.message}`
}

export function pauseMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

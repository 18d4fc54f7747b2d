/** The openstack client, unmodified, as the admin of the project service: many commands in one process of the lab (test/lab/client.py). */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { createInterface } from 'node:readline'
import { labCommand } from './lab.ts'

/** Of one row or of several, by column. */
export type Row = Record<string, unknown>

interface Answer {
  code: number
  stdout: string
  stderr: string
}

export class OpenstackClient {
  readonly #process: ChildProcessWithoutNullStreams
  readonly #answers: AsyncIterator<string>

  constructor() {
    this.#process = spawn(labCommand, ['openstack'])
    this.#process.stderr.pipe(process.stderr)
    this.#answers = createInterface(this.#process.stdout)[Symbol.asyncIterator]()
  }

  /**
   * Runs a command, which must not start before the one before it has ended.
   *
   * @param version of Masakari's API
   * @returns what it printed; throws what it complained of if it failed
   */
  async order(version: string, ...words: string[]): Promise<string> {
    this.#process.stdin.write(`${JSON.stringify(['--os-ha-api-version', version, ...words])}\n`)
    const { value } = (await this.#answers.next()) as { value?: string }
    if (value === undefined) throw new Error('the client has ended')
    const { code, stdout, stderr } = JSON.parse(value) as Answer
    if (code !== 0) throw new Error(`openstack ${words.join(' ')}: ${stderr}`)
    return stdout
  }

  /** What a command prints that shows one row. */
  async one(version: string, ...words: string[]): Promise<Row> {
    return JSON.parse(await this.order(version, ...words, '-f', 'json')) as Row
  }

  /** What a command prints that lists rows. */
  async many(version: string, ...words: string[]): Promise<Row[]> {
    return JSON.parse(await this.order(version, ...words, '-f', 'json')) as Row[]
  }

  close(): void {
    this.#process.stdin.end()
  }
}

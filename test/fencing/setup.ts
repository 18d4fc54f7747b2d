/** A BMC over real HTTP whose faults tests choose, a fence agent as a script, and a clock that is the system's. */
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../src/domain/clock.ts'

export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after: (delayMs, fire) => {
    const timer = setTimeout(fire, delayMs)
    return () => clearTimeout(timer)
  },
}

export const password = 'p4ss-word-of-the-bmc'

export class FakeBmc {
  power = 'On'
  /** Accepts and does nothing. */
  stuck = false
  /** Status of the reset action. */
  resetStatus = 204
  /** Readings that say Off, and then On again: a host that restarts. */
  offReadings = Infinity
  /** Closes the connection instead of answering the reset, which it performs. */
  dropReset = false
  /** Does not answer the reset, nor perform it. */
  hangReset = false
  /** How connections broke that were not ended in order, after a reset without an answer. */
  readonly broke: string[] = []
  body: unknown = undefined
  resetTarget = '/redfish/v1/Systems/1/Actions/ComputerSystem.Reset'
  /** What it was asked, password left out. */
  readonly seen: string[] = []
  #server: Server | undefined

  async start({ tls = false } = {}): Promise<string> {
    const answer = (request: IncomingMessage, response: ServerResponse): void => void this.#answer(request, response)
    const pem = tls ? readFileSync(new URL('../openstack/loopback.pem', import.meta.url)) : undefined
    this.#server = pem ? createSecureServer({ cert: pem, key: pem }, answer) : createServer(answer)
    await new Promise<void>((resolve) => this.#server?.listen(0, '127.0.0.1', resolve))
    return `${tls ? 'https' : 'http'}://127.0.0.1:${(this.#server.address() as AddressInfo).port}/redfish/v1/Systems/1`
  }

  stop(): void {
    this.#server?.closeAllConnections()
    this.#server?.close()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const data = Buffer.concat(chunks).toString()
    this.seen.push(`${request.method} ${request.url} ${data}`.trim())
    const give = (status: number, body?: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(body === undefined ? '' : JSON.stringify(body))
    }
    const expected = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`
    if (request.headers.authorization !== expected) {
      give(401)
      return
    }
    if (request.method === 'GET') {
      if (this.power === 'Off' && this.offReadings-- <= 0) this.power = 'On'
      const Actions = { '#ComputerSystem.Reset': { target: this.resetTarget } }
      give(200, this.body ?? { PowerState: this.power, Actions })
      return
    }
    if (this.hangReset) {
      request.socket.on('error', ({ code }: NodeJS.ErrnoException) => this.broke.push(code ?? ''))
      return
    }
    if (!this.stuck && this.resetStatus < 300) this.power = 'Off'
    if (this.dropReset) request.socket.destroy()
    else give(this.resetStatus)
  }
}

/** A fence agent that keeps the power in a file and writes down its arguments and its input. */
export function fakeAgent(script = 'echo off > "$dir/power"'): {
  path: string
  power: (state: string) => void
  input: () => string
  argv: () => string
} {
  const dir = mkdtempSync(join(tmpdir(), 'fence-'))
  const path = join(dir, 'fence_fake')
  const text = `#!/bin/sh
dir='${dir}'
echo "$0 $*" >> "$dir/argv"
options=$(cat)
echo "$options" >> "$dir/input"
case "$options" in
*action=status*) grep -q off "$dir/power" && exit 2; grep -q on "$dir/power" && exit 0; echo "no answer, password was ${password}" >&2; exit 1 ;;
*action=off*) ${script} ;;
esac
`
  writeFileSync(path, text)
  chmodSync(path, 0o755)
  const power = (state: string): void => writeFileSync(join(dir, 'power'), state)
  power('on')
  const read = (name: string) => (): string => readFileSync(join(dir, name), 'utf8')
  return { path, power, input: read('input'), argv: read('argv') }
}

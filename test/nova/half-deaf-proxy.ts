/** A proxy in front of the lab's Nova that answers 503 to every second call while it is deaf. */
import { createServer, request, type Server } from 'node:http'
import { mkdtempSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export class HalfDeafProxy {
  deaf = false
  #calls = 0
  readonly #server: Server

  private constructor() {
    this.#server = createServer((incoming, answer) => {
      if (this.deaf && ++this.#calls % 2 === 1) {
        incoming.resume()
        answer.writeHead(503, { 'Content-Type': 'text/html' }).end('<h1>503 Service Unavailable</h1>')
        return
      }
      const headers = { ...incoming.headers, host: '127.0.0.1:18774' }
      const onward = request(
        { host: '127.0.0.1', port: 18774, method: incoming.method, path: incoming.url, headers },
        (reply) => {
          answer.writeHead(reply.statusCode ?? 502, reply.headers)
          reply.pipe(answer)
        },
      )
      onward.on('error', () => answer.destroy())
      incoming.pipe(onward)
    })
  }

  static async listen(): Promise<HalfDeafProxy> {
    const proxy = new HalfDeafProxy()
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  /** The lab's clouds.yaml with Nova behind this proxy. */
  cloudsFile(clouds: string): string {
    const { port } = this.#server.address() as AddressInfo
    const file = join(mkdtempSync(join(tmpdir(), 'lifeboat-proxy-')), 'clouds.yaml')
    writeFileSync(file, `${clouds.trimEnd()}\n    compute_endpoint_override: http://127.0.0.1:${port}/v2.1\n`)
    return file
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

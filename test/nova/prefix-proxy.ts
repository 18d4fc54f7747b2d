/** A proxy that serves a listener of this machine under a path: it takes the path off, as a front end of several APIs does. */
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export class PrefixProxy {
  /** The paths that clients asked for, in order. */
  readonly asked: string[] = []
  readonly #prefix: string
  readonly #server: Server

  private constructor(prefix: string, port: number) {
    this.#prefix = prefix
    this.#server = createServer((incoming, answer) => {
      const path = incoming.url ?? ''
      this.asked.push(path)
      if (!path.startsWith(`${prefix}/`)) {
        answer.writeHead(404, { 'Content-Type': 'text/html' }).end('<h1>404 Not Found</h1>')
        return
      }
      const { method, headers } = incoming
      const onward = request({ host: '127.0.0.1', port, method, path: path.slice(prefix.length), headers }, (reply) => {
        answer.writeHead(reply.statusCode ?? 502, reply.headers)
        reply.pipe(answer)
      })
      onward.on('error', () => answer.destroy())
      incoming.pipe(onward)
    })
  }

  static async listen(prefix: string, port: number): Promise<PrefixProxy> {
    const proxy = new PrefixProxy(prefix, port)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  /** Without a slash at its end. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo
    return `http://127.0.0.1:${port}${this.#prefix}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

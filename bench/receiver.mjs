/** A receiver of notices in the benchmark's own process: takes signed webhooks and notes when each came. */
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'

export const secret = 'a-secret-of-the-benchmark'

export class Receiver {
  /** { at, notice } of each, `at` in wall ms when the whole request was there. */
  received = []
  #server

  /** @param options { hangs? }: never answers */
  static async start({ hangs = false } = {}) {
    const receiver = new Receiver()
    receiver.#server = createServer((request, response) => {
      const pieces = []
      request.on('data', (piece) => pieces.push(piece))
      request.on('end', () => {
        const at = Date.now()
        const body = Buffer.concat(pieces).toString()
        const signed = `${request.headers['lifeboat-timestamp']}.${body}`
        const expected = `v1=${createHmac('sha256', secret).update(signed).digest('hex')}`
        if (request.headers['lifeboat-signature'] !== expected) {
          response.writeHead(401).end()
          return
        }
        receiver.received.push({ at, notice: JSON.parse(body) })
        if (!hangs) response.writeHead(204).end()
      })
    })
    await new Promise((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}/`
  }

  of(topic) {
    return this.received.filter(({ notice }) => notice.topic === topic)
  }

  async close() {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

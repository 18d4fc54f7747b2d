/** Which connections a store's lanes go on with. On a server of this process that says yes to everything; real nodes: test/galera. */
import type { AddressInfo } from 'node:net'
import { createServer } from 'mysql2'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { Lane } from '../../../src/journal/shared/lane.ts'
import { Nodes } from '../../../src/journal/shared/nodes.ts'
import { StoreTrouble } from '../../../src/journal/shared/store.ts'
import { systemClock as clock } from '../../../src/system/system-clock.ts'

// What the driver's types leave out of a server's end.
interface Peer {
  serverHandshake: (options: object) => void
  writeOk: () => void
  /** Each answer counts packets from the question on. */
  sequenceId: number
  on: (event: 'query' | 'error', listener: () => void) => void
}
interface Listener {
  listen: (port: number, host: string, done: () => void) => void
  close: (done: () => void) => void
  _server: { address: () => AddressInfo }
}

const server = createServer((connection) => {
  const peer = connection as unknown as Peer
  const saysYes = (): void => {
    peer.writeOk()
    peer.sequenceId = 0
  }
  peer.on('query', saysYes)
  peer.on('error', () => undefined)
  const about = { protocolVersion: 10, serverVersion: 'any', connectionId: 1, statusFlags: 2, characterSet: 8 }
  // Without TLS.
  peer.serverHandshake({ ...about, capabilityFlags: 0xf7ff, authCallback: saysYes })
}) as unknown as Listener

let port: number
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = server._server.address().port
})
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())))

let admitted: number
let nodes: Nodes
let lanes: Lane[]
beforeEach(() => {
  admitted = 0
  nodes = new Nodes([{ host: '127.0.0.1', port }])
  const parts = {
    ...{ nodes, clock, access: {}, tls: null, settings: [] },
    connectLimitMs: 2_000,
    statementLimitMs: 2_000,
  }
  const admit = (): Promise<void> => Promise.resolve(void admitted++)
  lanes = [new Lane({ ...parts, admit }), new Lane({ ...parts, admit })]
})
afterEach(() => lanes.forEach((lane) => lane.close()))

const asks = async (lane: Lane | undefined): Promise<unknown> => lane?.run((ask) => ask('DO 0'))

it('a lane keeps its connection', async () => {
  await asks(lanes[0])
  await asks(lanes[0])
  expect(admitted).toBe(1)
})

it('a lane connects anew once another one left its node, though all have come round to that node again', async () => {
  await Promise.all(lanes.map(asks))
  const trouble = new StoreTrouble('again', 'it must not be used', { maybeDone: false })
  await expect(lanes[0]?.run(() => Promise.reject(trouble))).rejects.toThrow('it must not be used')
  await asks(lanes[1])
  expect(admitted).toBe(3)
})

it('all lanes connect anew, to the same node, once they are told to', async () => {
  await Promise.all(lanes.map(asks))
  nodes.connectAnew()
  await Promise.all(lanes.map(asks))
  expect(admitted).toBe(4)
})

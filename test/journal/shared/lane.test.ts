/**
 * Which connections a store's lanes go on with. On servers of this process, of which one says yes to everything and the other lets nobody in;
 * real nodes: test/galera.
 */
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
  writeError: (error: { code: number; message: string }) => void
  /** Each answer counts packets from the question on. */
  sequenceId: number
  on: (event: 'query' | 'error', listener: () => void) => void
}
interface Listener {
  listen: (port: number, host: string, done: () => void) => void
  close: (done: () => void) => void
  _server: { address: () => AddressInfo }
}

/** @param refusal the number of its error; null: it lets everybody in */
function serverThat(refusal: number | null): Listener {
  return createServer((connection) => {
    const peer = connection as unknown as Peer
    const saysYes = (): void => {
      peer.writeOk()
      peer.sequenceId = 0
    }
    const saysNo = (): void => peer.writeError({ code: refusal ?? 0, message: 'no' })
    peer.on('query', saysYes)
    peer.on('error', () => undefined)
    const about = { protocolVersion: 10, serverVersion: 'any', connectionId: 1, statusFlags: 2, characterSet: 8 }
    // Without TLS.
    peer.serverHandshake({ ...about, capabilityFlags: 0xf7ff, authCallback: refusal === null ? saysYes : saysNo })
  }) as unknown as Listener
}

const servers = [serverThat(null), serverThat(1045), serverThat(1047)]
let port: number
let refusingPort: number
/** Of a node without a majority. */
let minorityPort: number
beforeAll(async () => {
  for (const server of servers) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const ports = servers.map((server) => server._server.address().port)
  port = ports[0] ?? 0
  refusingPort = ports[1] ?? 0
  minorityPort = ports[2] ?? 0
})
afterAll(() => Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())))))

let admitted: number
let nodes: Nodes
let lanes: Lane[]
beforeEach(() => {
  admitted = 0
  twoLanes(port)
})

function twoLanes(...ports: number[]): void {
  nodes = new Nodes(ports.map((each) => ({ host: '127.0.0.1', port: each })))
  const parts = {
    ...{ nodes, clock, access: {}, tls: null, settings: [] },
    connectLimitMs: 2_000,
    statementLimitMs: 2_000,
  }
  const admit = (): Promise<void> => Promise.resolve(void admitted++)
  lanes = [new Lane({ ...parts, admit }), new Lane({ ...parts, admit })]
}
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

it('a node that refuses the account is passed over while another one lets it in, by every lane', async () => {
  twoLanes(refusingPort, port)
  await Promise.all(lanes.map(asks))
  expect([admitted, nodes.current().port]).toEqual([2, port])
})

it.each([
  ['every node refuses it', () => [refusingPort, refusingPort], 'refused', true],
  ['one refuses it and the others are away', () => [refusingPort, 1], 'again', true],
  ['one sees no majority and the others are away', () => [minorityPort, 1], 'again', true],
  ['all are away', () => [1, 1], 'again', false],
])('a call fails where %s, and says whether any answered', async (_what, ports, kind, answered) => {
  twoLanes(...ports())
  await expect(asks(lanes[0])).rejects.toMatchObject({ kind, maybeDone: false, answered })
})

/** How many requests the front takes from one address in a minute. */
import { afterEach, expect, it } from 'vitest'
import { requestHeader } from '../../src/domain/review.ts'
import { as, front, usual, type Front } from './people.ts'

let opened: Front | null = null
const open = async (...args: Parameters<typeof front>): Promise<Front> => (opened = await front(...args))
afterEach(async () => {
  await opened?.server.close()
  opened = null
})

const ours = { [requestHeader]: '1' }

it('limits logins more than reads, and each address by itself', async () => {
  const { server } = await open({ rules: () => ({ ...usual, requestsAMinute: 50 }) })
  const guess = async (remoteAddress: string) =>
    (
      await server.inject({
        method: 'POST',
        url: '/v1/session',
        payload: { user: 'ann', password: 'x' },
        headers: ours,
        remoteAddress,
      })
    ).statusCode
  const guesses = []
  for (let nth = 0; nth < 12; nth += 1) guesses.push(await guess('192.0.2.1'))
  expect(guesses).toEqual([...Array<number>(10).fill(401), 429, 429])
  expect(await guess('192.0.2.2')).toBe(401)
  const reads = []
  for (let nth = 0; nth < 52; nth += 1)
    reads.push((await server.inject({ url: '/v1/status', headers: as('rita'), remoteAddress: '192.0.2.3' })).statusCode)
  expect(reads.filter((status) => status === 429)).toHaveLength(2)
})

it('takes the addresses of one IPv6 network for one: a guesser has as many as they like', async () => {
  const { server } = await open()
  const guess = async (nth: number) => {
    const payload = { user: 'ann', password: 'x' }
    const remoteAddress = `2001:db8:1:1::${nth}`
    return (await server.inject({ method: 'POST', url: '/v1/session', payload, headers: ours, remoteAddress }))
      .statusCode
  }
  const guesses = []
  for (let nth = 1; nth < 13; nth += 1) guesses.push(await guess(nth))
  expect(guesses).toEqual([...Array<number>(10).fill(401), 429, 429])
})

it('counts orders apart from reads: pages that load on keep nobody from stopping anything', async () => {
  const { server } = await open({ rules: () => ({ ...usual, requestsAMinute: 5 }) })
  const read = async () => (await server.inject({ url: '/v1/status', headers: as('ann') })).statusCode
  while ((await read()) !== 429) continue
  const pause = { method: 'POST', url: '/v1/pause', payload: { reason: 'stop' }, headers: as('ann') } as const
  const orders = []
  for (let nth = 0; nth < 6; nth += 1) orders.push((await server.inject(pause)).statusCode)
  expect(orders).toEqual([200, 200, 200, 200, 200, 429])
})

it('limits anyone who shows tokens that nobody knows before Keystone is asked for each', async () => {
  const { server, people } = await open({ rules: () => ({ ...usual, requestsAMinute: 20 }) })
  const statuses = []
  for (let nth = 0; nth < 30; nth += 1)
    statuses.push(
      (await server.inject({ url: '/v1/status', headers: { 'x-auth-token': `made-up-${nth}` } })).statusCode,
    )
  expect(statuses).toEqual([...Array<number>(20).fill(401), ...Array<number>(10).fill(429)])
  expect(people.asked).toBe(20)
})

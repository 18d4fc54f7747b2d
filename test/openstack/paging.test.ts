/** A list is all of it or an error: what never ends is no list. */
import { expect, it } from 'vitest'
import { allPages, mostRows, pageSize } from '../../src/openstack/paging.ts'

it('a service that always brings new rows is followed for so many, and refused in clear words', async () => {
  let next = 0
  const fetch = () => {
    const items = Array.from({ length: pageSize }, () => next++)
    return Promise.resolve({ items, linked: true, marker: String(next) })
  }
  await expect(allPages('GET /servers', fetch, String)).rejects.toMatchObject({
    code: 'API_MALFORMED',
    message: `GET /servers: the list does not end; the service brought more than ${mostRows} rows on 201 pages`,
  })
  expect(next).toBe(mostRows + pageSize)
})

import { inspect } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { errorRecord } from '../../src/domain/errors.ts'
import { RehearsedCloud, failure, fault, password } from './rehearsed-cloud.ts'
import type { Reply } from './rehearsed-cloud.ts'

let cloud: RehearsedCloud
beforeEach(async () => {
  cloud = await RehearsedCloud.open()
})
afterEach(() => cloud.shut())

const action = 'POST /v2.1/servers/i1/action'
const login = 'POST /v3/auth/tokens'
const troubles: [string, string, Reply][] = [
  ['a broken connection', action, { instead: 'reset' }],
  ['a broken login', login, { instead: 'reset' }],
  ['an error page that repeats the request', action, fault(400, `bad token token-number-1 and ${password}`)],
  ['a login error that repeats the password', login, fault(400, `you sent ${password}`)],
  ['a login refused', login, fault(401, `wrong: ${password}`)],
  ['a login answer that is no JSON', login, { status: 201, text: `<p>${password}</p>` }],
  ['a login answer without its fields', login, { status: 201, json: { token: { password } } }],
  ['a refused token', action, fault(401, 'token-number-1 is no good')],
  ['a failing service', action, fault(500, 'token-number-1')],
  ['an answer that is no JSON', action, { status: 500, text: 'token-number-1' }],
]

it.each(troubles)('%s puts no secret into the error or before the observer', async (_name, route, reply) => {
  cloud.on(route, () => reply)
  const error = await failure(cloud.client().stop('i1'))
  // Everything that could be printed: all own properties, all causes, hidden ones too.
  const printed = inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(errorRecord(error))
  expect(printed).not.toContain(password)
  expect(printed).not.toContain('token-number')
  expect(JSON.stringify(cloud.seen)).not.toMatch(new RegExp(`${password}|token-number`))
})

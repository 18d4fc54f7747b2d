/**
 * What the real Masakari answers to the requests of test/masakari/differential is what is on record there: Lifeboat is held against the
 * record in every run, and the record against Masakari here. `RECORD_MASAKARI=1` writes it again; read the diff like code.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { played, type Answered, type Sent } from '../masakari/differential/play.ts'
import { lab, labAccess, labCloud, labIdentityUrl } from './lab.ts'

const record = new URL('../masakari/differential/answers.json', import.meta.url)
const address = 'http://127.0.0.1:15868'

beforeAll(async () => {
  await labCloud('answers')
  await lab('masakari', 'down')
  await lab('masakari', 'wipe')
  await lab('masakari', 'api')
})
afterAll(async () => {
  await lab('masakari', 'down')
})

async function login(name: string, project: string): Promise<{ token: string; project: string }> {
  const domain = { name: 'Default' }
  const identity = { methods: ['password'], password: { user: { name, domain, password: labAccess.password } } }
  const auth = { identity, scope: { project: { name: project, domain } } }
  const answer = await fetch(`${labIdentityUrl}/auth/tokens`, {
    ...{ method: 'POST', body: JSON.stringify({ auth }) },
    headers: { 'content-type': 'application/json' },
  })
  const { token } = (await answer.json()) as { token: { project: { id: string } } }
  return { token: answer.headers.get('x-subject-token') ?? '', project: token.project.id }
}

it('the record is what Masakari answers', async () => {
  const admin = await login('masakari', 'service')
  const member = await login('demo', 'demo')
  const tokens = { admin: admin.token, member: member.token, stranger: 'a'.repeat(180), nobody: null }
  const send = async ({ method, path, as = 'admin', version, content, type }: Sent) => {
    const token = tokens[as]
    const answer = await fetch(`${address}${path}`, {
      ...{ method, redirect: 'manual', body: content ?? null },
      headers: {
        accept: 'application/json',
        ...(token !== null && { 'x-auth-token': token }),
        ...(version !== undefined && { 'openstack-api-version': version }),
        ...(type !== undefined && { 'content-type': type }),
      },
    })
    const text = await answer.text()
    return { status: answer.status, body: jsonOf(text), header: (name: string) => answer.headers.get(name) }
  }
  const answers = await played(send, admin.project)
  if (process.env['RECORD_MASAKARI'] === '1') writeFileSync(record, rowsOf(answers))
  expect(answers).toEqual(JSON.parse(readFileSync(record, 'utf8')) as Record<string, Answered>)
})

/** One answer a row, so that a diff shows it whole. */
function rowsOf(answers: Record<string, Answered>): string {
  const rows = Object.entries(answers).map(([name, answer]) => `  ${JSON.stringify(name)}: ${JSON.stringify(answer)}`)
  return `{\n${rows.join(',\n')}\n}\n`
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Some refusals have no body, or one of another kind: the status says all.
    return null
  }
}

/** What tests order of the lab's Keystone itself: users, roles, regions, providers. */
import { labIdentityUrl } from './lab.ts'

/** Throws what Keystone refused. */
export async function keystone(token: string, method: string, path: string, body?: unknown): Promise<any> {
  const reply = await fetch(labIdentityUrl + path, {
    ...{ method, body: body === undefined ? null : JSON.stringify(body) },
    headers: { 'X-Auth-Token': token, 'Content-Type': 'application/json' },
  })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`)
  return text === '' ? null : JSON.parse(text)
}

export interface Account {
  username: string
  password: string
  /** Has the role there and nowhere else. */
  project: string
}

/** Makes what is missing of the user, of the role, and of the one's having the other. */
export async function userWithRole(
  token: string,
  { username, password, project }: Account,
  role: string,
): Promise<void> {
  const find = async (what: string, name: string): Promise<string | undefined> =>
    (await keystone(token, 'GET', `/${what}?name=${name}`))[what][0]?.id
  const roleId =
    (await find('roles', role)) ?? (await keystone(token, 'POST', '/roles', { role: { name: role } })).role.id
  const user = { name: username, password, domain_id: 'default' }
  const userId = (await find('users', username)) ?? (await keystone(token, 'POST', '/users', { user })).user.id
  await keystone(token, 'PUT', `/projects/${await find('projects', project)}/users/${userId}/roles/${roleId}`)
}

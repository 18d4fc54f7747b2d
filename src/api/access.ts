/**
 * Who may ask what: every route of the REST API with the least role that may use it, in one table. A route that is missing here
 * is refused when it is made, so that none is open by being forgotten.
 */
import { LifeboatError } from '../domain/errors.ts'
import { roles, type Role } from '../domain/review.ts'

/** `nobody`: without a login. Only what a login itself needs, and what says nothing of the cloud. */
export const access: Readonly<Record<string, Role | 'nobody'>> = {
  'GET /v1/me': 'reader',
  'GET /v1/status': 'reader',
  'GET /v1/hosts': 'reader',
  'GET /v1/hosts/:host': 'reader',
  'GET /v1/segments': 'reader',
  'GET /v1/readiness': 'reader',
  'GET /v1/hosts/:host/readiness': 'reader',
  'GET /v1/verdicts': 'reader',
  'GET /v1/incidents': 'reader',
  'GET /v1/incidents/:id': 'reader',
  'GET /v1/incidents/:id/review': 'reader',
  'GET /v1/incidents/:id/instances/:instance': 'reader',
  'GET /v1/incidents/:id/diff/:other': 'reader',
  'GET /v1/incidents/:id/report': 'reader',
  'GET /v1/recoveries': 'reader',
  'GET /v1/instances/:id': 'reader',
  'GET /v1/instances/:id/record': 'reader',
  'GET /v1/search': 'reader',
  'GET /v1/brake': 'reader',
  'POST /v1/brake/override': 'admin',
  'GET /v1/notices': 'reader',
  'POST /v1/notices/test': 'operator',
  'GET /v1/journal': 'reader',
  'GET /v1/journal/verify': 'reader',
  'GET /v1/plans/:id': 'reader',
  'GET /v1/events': 'reader',
  'GET /v1/openapi.json': 'reader',
  'POST /v1/session': 'nobody',
  'DELETE /v1/session': 'nobody',
  'GET /v1/sso': 'nobody',
  'POST /v1/sso': 'nobody',
  'POST /v1/plans': 'operator',
  'POST /v1/incidents/:id/notes': 'operator',
  'POST /v1/incidents/:id/sign-off': 'operator',
  'POST /v1/incidents/:id/cancel': 'operator',
  'POST /v1/incidents/:id/start': 'operator',
  'POST /v1/incidents/:id/again': 'admin',
  'POST /v1/incidents/:id/override': 'admin',
  'POST /v1/recover': 'admin',
  'POST /v1/pause': 'operator',
  'POST /v1/resume': 'operator',
  'GET /v1/maintenance': 'reader',
  'POST /v1/maintenance': 'operator',
  'POST /v1/maintenance/withdraw': 'operator',
  'POST /v1/maintenance/end': 'operator',
  'POST /v1/hosts/:host/return': 'operator',
  // It can arm the daemon and name the programs that it runs.
  'POST /v1/reload': 'admin',
  'POST /v1/hand-over': 'admin',
  'GET /v1/log-level': 'reader',
  'POST /v1/log-level': 'admin',
}

/** Only of the demo: the description of the API does not have them. */
const simulationAccess: Readonly<Record<string, Role>> = {
  'GET /v1/simulation': 'reader',
  'POST /v1/simulation': 'operator',
}

/** Throws INVARIANT for a route that the table does not know. */
export function roleNeeded(method: string, url: string): Role | 'nobody' {
  const route = `${method === 'HEAD' ? 'GET' : method} ${url}`
  const needed = access[route] ?? simulationAccess[route]
  if (needed === undefined) throw new LifeboatError('INVARIANT', `nobody says who may use ${method} ${url}`)
  return needed
}

const order = Object.keys(roles) as Role[]

export function mayDo(role: Role, needed: Role): boolean {
  return order.indexOf(role) >= order.indexOf(needed)
}

/**
 * What a token of the cloud is worth here. Pure.
 *
 * A role counts only in a project that the configuration names (default: the daemon's own), or when the token is for the system
 * as a whole: an admin of some tenant's project must not become an admin of recoveries by the name of the role.
 */
import type { Role } from '../domain/review.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { TokenHolder } from '../domain/token-holder.ts'
import { mayDo } from './access.ts'
import type { Identified } from './rest.ts'

export type ProjectRule = { id: string } | { name: string; domain: string }

export interface CallerRules {
  /** Role of Keystone -> what it may do here. */
  roles: Readonly<Record<string, Role>>
  projects: readonly ProjectRule[]
}

/** The domain that OpenStack makes first; its users go by their names alone. */
const firstDomain = 'Default'

/** Throws AUTH_FORBIDDEN, saying what would be needed. */
export function identified(holder: TokenHolder, { roles, projects }: CallerRules, by: 'token' | 'session'): Identified {
  const { user, scope } = holder
  const name = nameOf(user)
  const counts = scope.kind === 'system' || (scope.kind === 'project' && projects.some((rule) => fits(rule, scope)))
  if (!counts) {
    const where = scope.kind === 'project' ? `project ${scope.domain}/${scope.name}` : 'no project'
    const message = `Roles count in ${projectsText(projects)} and for the system as a whole; this token is for ${where}`
    throw new LifeboatError('AUTH_FORBIDDEN', message)
  }
  const role = best(holder.roles.flatMap((held) => (Object.hasOwn(roles, held) ? (roles[held] ?? []) : [])))
  if (role === null) {
    const message = `None of the roles of ${name} (${holder.roles.join(', ')}) counts here; these do: ${Object.keys(roles).join(', ')}`
    throw new LifeboatError('AUTH_FORBIDDEN', message)
  }
  return {
    caller: { name, role, by: 'token' },
    via: { by, userId: user.id, scope: scope.kind === 'project' ? `${scope.domain}/${scope.name}` : 'system' },
    keystoneRoles: holder.roles,
  }
}

/** As the journal names them. */
export function nameOf({ name, domain }: TokenHolder['user']): string {
  return domain === firstDomain ? name : `${name}@${domain}`
}

export function projectsText(projects: readonly ProjectRule[]): string {
  return projects.map(projectText).join(', ')
}

function fits(rule: ProjectRule, project: { id: string; name: string; domain: string }): boolean {
  return 'id' in rule ? rule.id === project.id : rule.name === project.name && rule.domain === project.domain
}

function projectText(rule: ProjectRule): string {
  return 'id' in rule ? `project ${rule.id}` : `project ${rule.domain}/${rule.name}`
}

function best(found: readonly Role[]): Role | null {
  return found.reduce<Role | null>((most, role) => (most === null || mayDo(role, most) ? role : most), null)
}

/** Who looks, and what they may do. The daemon decides at each act; the pages only say beforehand what it would refuse. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Caller, Role } from '../../domain/review.ts'

const ranks: Record<Role, number> = { reader: 0, operator: 1, admin: 2 }

export const Session = createContext<Caller | null>(null)

export function useCaller(): Caller | null {
  return useContext(Session)
}

/** Why this person may not do what needs `role`; null: they may. */
export function refusalOf(caller: Caller | null, role: Role): string | null {
  if (caller === null) return 'Log in first'
  if (ranks[caller.role] >= ranks[role]) return null
  return `Needs the role ${role}; ${caller.name} is ${caller.role}`
}

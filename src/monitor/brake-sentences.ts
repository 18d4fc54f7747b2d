/** What the brake says to people: each scope's numbers, and what they look like. Decides nothing. */
import type { BrakeRules, ScopeCount } from './brake.ts'
import { span } from '../domain/text/span.ts'

/** Of a scope that lets recoveries begin. */
export function openSentence(count: ScopeCount): string {
  return numbers(count)
}

/** Of a scope that holds. */
export function heldSentence(count: ScopeCount, rules: BrakeRules): string {
  const looks = looksLike(count, rules)
  if (count.over) return looks === null ? numbers(count) : `${numbers(count)}: ${looks}`
  return `${numbers(count)}; more were before, and hosts may still be coming back: the brake opens once nothing has changed for ${span(rules.steadyMs)}`
}

/** Of a scope that has just opened again. */
export function openedSentence(count: ScopeCount, rules: BrakeRules): string {
  const why = count.over ? 'no recovery waits any more' : 'within the limit'
  return `${numbers(count)}: ${why}, and nothing has changed for ${span(rules.steadyMs)}`
}

function numbers({ title, fleet, hosts, cooling, allowed }: ScopeCount): string {
  const down = hosts.length
  const lately = cooling === 0 ? '' : `; ${cooling} of them recovered, but still counted`
  return `${down} of ${fleet} hosts of ${title} ${down === 1 ? 'is' : 'are'} down (limit ${allowed}${lately})`
}

function looksLike({ kind, siteLost, title, sharedDomain }: ScopeCount, rules: BrakeRules): string | null {
  if (kind === 'domain') return `that looks like a failure of ${title} itself, its power or its switch`
  const key = rules.failureDomain?.key ?? 'domain'
  if (sharedDomain !== null)
    return `all of them in ${key} ${sharedDomain}, which looks like a failure of its power or its switch`
  return siteLost ? 'that looks like the loss of the power or the network of the whole site' : null
}

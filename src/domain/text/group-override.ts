/** What came of an order for a whole group of the brake: as many as were let past, and whom the scope did not hold any more. */
import type { GroupOverride, HeldHost } from '../brake.ts'
import { counted } from './counted.ts'

/** So many hosts are named. Fewer hides whom to look for; more is a list that nobody reads in a line. */
const mostNamed = 5

/**
 * One line, without its full stop.
 *
 * @param asked whom the order named
 * @param title of the scope
 */
export function groupOverrideText(
  { overridden, skipped }: GroupOverride,
  asked: readonly HeldHost[],
  title: string,
): string {
  const verb = overridden.length === 1 ? 'is' : 'are'
  if (skipped.length === 0) return `${counted(overridden.length, 'host')} of ${title} ${verb} past the brake`
  const hosts = skipped.map((id) => asked.find(({ incident }) => incident === id)?.host ?? id)
  const more = hosts.length > mostNamed ? ` and ${hosts.length - mostNamed} more` : ''
  const named = `${hosts.slice(0, mostNamed).join(', ')}${more}`
  const past = `${overridden.length} of ${counted(asked.length, 'host')} of ${title} ${verb} past the brake`
  return `${past}. Not let past, because ${title} did not hold them any more: ${named}`
}

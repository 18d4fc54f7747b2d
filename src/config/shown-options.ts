/**
 * Options as people are shown them, secrets masked. Apart from what finds out what holds: that needs the whole schema, and a
 * command line that only prints options does not load it.
 */
import type { ReloadMark } from './json-schema.ts'

export interface EffectiveOption {
  /** monitor.poll_interval, segments[ceph].storage */
  name: string
  /** As in the file. A secret is as it is: mask it with `shownValue`. */
  value: unknown
  /** file:line, `default`, or the environment variable. */
  origin: string
  secret: boolean
  reload: ReloadMark
  /** The named thing that it belongs to (probes.ssh, segments[ceph]), or null. */
  item: string | null
}

/** The value as it may be shown. */
export function shownValue({ secret, value }: EffectiveOption): unknown {
  return secret ? '***' : value
}

/** The options as one document in the form of the file, secrets masked. */
export function effectiveDocument(options: readonly EffectiveOption[]): Record<string, unknown> {
  const document: Record<string, unknown> = {}
  for (const option of options) place(document, stepsOf(option), shownValue(option))
  return document
}

/** [section, key, ...]; a step with `list` is the named member of a list. */
function stepsOf({ name }: EffectiveOption): { key: string; list: boolean }[] {
  return [...name.matchAll(/\[([^\]]*)\]|[^.[\]]+/g)].map((match) => ({
    key: match[1] ?? match[0],
    list: match[1] !== undefined,
  }))
}

function place(root: Record<string, unknown>, steps: { key: string; list: boolean }[], value: unknown): void {
  let at: Record<string, unknown> = root
  for (const [index, { key }] of steps.entries()) {
    const next = steps[index + 1]
    const after = steps[index + 2]
    if (steps[index]?.list === true) continue
    if (next === undefined) {
      at[key] = value
    } else if (next.list) {
      const members = (at[key] ??= []) as Record<string, unknown>[]
      let member = members.find(({ name }) => name === next.key)
      if (member === undefined) members.push((member = { name: next.key }))
      if (after === undefined) return
      at = member
    } else at = (at[key] ??= {}) as Record<string, unknown>
  }
}

/** Whether no file says anything. */
export function setsNothing(options: readonly EffectiveOption[]): boolean {
  return options.every(({ origin }) => origin === 'default' || origin.startsWith('$'))
}

/**
 * The mutants that may survive, each with its reason (survivors.yaml), held against Stryker's reports. Lines move, so a
 * survivor is known by its module, what stood there, between « and » on its line, and what replaced it.
 */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

/** How much is shown of what stood there and of what stands around it on its line: enough to tell two places apart. */
const shown = { text: 70, around: 30 }

/** One line, and no longer than a reader needs. */
function brief(text, most = shown.text) {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > most ? `${line.slice(0, most)}…` : line
}

/** The reasons, in the order of the file: `{ title, reason, entries: [{ module, text, replacement, times }] }`. */
export function readReasons(file = new URL('survivors.yaml', import.meta.url)) {
  return parse(readFileSync(file, 'utf8')).map(({ title, reason, in: modules }) => ({
    title,
    reason,
    entries: Object.entries(modules).flatMap(([module, mutants]) =>
      mutants.map(([text, replacement, times = 1]) => ({ module, text, replacement, times })),
    ),
  }))
}

/** What survived in one module: `{ module, line, text, replacement }`, in the order of the file. */
export function survivorsOf(module, { source, mutants }) {
  const lines = source.split('\n')
  return mutants
    .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    .map(({ location: { start, end }, replacement }) => {
      const within = lines.slice(start.line - 1, end.line).join('\n')
      const tail = lines[end.line - 1].slice(end.column - 1)
      const text = within.slice(start.column - 1, within.length - tail.length)
      const head = lines[start.line - 1]
        .slice(0, start.column - 1)
        .trimStart()
        .slice(-shown.around)
      return {
        module,
        line: start.line,
        text: `${head}«${brief(text)}»${tail.trimEnd().slice(0, shown.around)}`,
        replacement: brief(replacement ?? ''),
      }
    })
    .toSorted((a, b) => a.line - b.line)
}

/**
 * Gives every survivor its reason. `without`: survivors that have none. `idle`: reasons for what no longer survives in a
 * module that was run; they must go, or they would excuse a gap that comes later.
 */
export function judge(survivors, reasons, modules) {
  const key = ({ module, text, replacement }) => JSON.stringify([module, text, replacement])
  const open = new Map()
  for (const survivor of survivors) open.set(key(survivor), [...(open.get(key(survivor)) ?? []), survivor])
  const idle = []
  const listed = reasons.map(({ title, reason, entries }) => ({
    title,
    reason,
    survivors: entries.flatMap((entry) => {
      const found = open.get(key(entry)) ?? []
      const taken = found.splice(0, entry.times)
      if (taken.length < entry.times && modules.has(entry.module)) idle.push(entry)
      return taken
    }),
  }))
  return { listed, without: [...open.values()].flat(), idle }
}

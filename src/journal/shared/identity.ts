/**
 * Who this daemon is among others: its name, its copy, and a word that no other process has. So a process never takes what another one holds for
 * its own, not even where someone copied a daemon's directory, or a whole machine with it. The next process on the same copy knows that the
 * earlier one cannot be alive: it holds the copy's lock. That is so in one place alone, and what was copied is in another one.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { failureCode, journalFailure } from '../failure.ts'

/** The store's column is as wide. */
const longestName = 40

/** Orders that are remembered: more than anyone gives before the journal goes on. */
const ordersKept = 20

export interface Identity {
  /** What stands in the tenure. */
  holder: string
  /** Whether `holder` is an earlier process with this very copy, in this very place: it is not alive. */
  wasUs(holder: string): boolean
  /** Before this process takes the tenure to make the journal this place's own: from then on `isOfCopy` knows its holder. */
  owns(): void
}

/** What `<journal>.identity` keeps. */
interface Kept {
  /** New in each place: in a copied directory it is another one from the first start on. */
  copy: string
  /** Where that is so; empty: it cannot be told, and no place is the same. */
  place: string
  /** The ends of the holders that made the journal this place's own. */
  own: string[]
}

const hex = /^[0-9a-f]{8}$/
const keptShape = z.strictObject({
  copy: z.string().regex(hex),
  place: z.string(),
  own: z.array(z.string()),
})
/** Earlier builds counted their processes, and any of those may have given the order. */
const countedShape = z.strictObject({ copy: z.string().regex(hex), process: z.number() })

/** Reads and writes `<journal>.identity`, under the copy's lock. Throws JOURNAL_UNAVAILABLE. */
export function identityOf(name: string, journalPath: string, boot = bootId()): Identity {
  const kept = read(journalPath)
  const place = placeOf(journalPath, boot)
  const isHere = place !== '' && kept.place === place
  const copy = isHere ? kept.copy : newWord(4)
  let { own } = kept
  write(journalPath, { copy, place, own })
  const end = `/${copy}#${newWord(6)}`
  return {
    holder: `${name.slice(0, longestName)}${end}`,
    wasUs: (holder) => isHere && holder.includes(`/${copy}#`) && !holder.endsWith(end),
    owns: () => {
      own = [...own, end].slice(-ordersKept)
      write(journalPath, { copy, place, own })
    },
  }
}

/** Whether `holder` is an order given here to make the journal that of this copy's place, whatever its name was. Throws JOURNAL_UNAVAILABLE. */
export function isOfCopy(holder: string, journalPath: string): boolean {
  return read(journalPath).own.some((end) => holder.includes(end))
}

/** The name within an identity, for people. */
export function nameIn(holder: string): string {
  return holder.split('/')[0] ?? holder
}

function newWord(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}

/**
 * The run of the kernel and the file itself. A copied file is another one, and a copied machine is another run: there a process that looks like an
 * earlier one of ours may be alive. After a restart of this machine too, which only means that its lease is waited for like any other's.
 */
function placeOf(journalPath: string, boot: string): string {
  if (boot === '') return ''
  try {
    const { dev, ino } = statSync(journalPath)
    return `${boot} ${dev}:${ino}`
  } catch (thrown) {
    throw journalFailure(thrown, journalPath, 'look at the journal')
  }
}

/** Empty where the system has none. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return ''
  }
}

function read(journalPath: string): Kept {
  const path = `${journalPath}.identity`
  try {
    const found: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const kept = keptShape.safeParse(found)
    if (kept.success) return kept.data
    const counted = countedShape.safeParse(found)
    if (counted.success) return { ...nobody(), own: [`/${counted.data.copy}#`] }
    return nobody()
  } catch (thrown) {
    // Unreadable: a new identity only means that an earlier process of ours is waited for like any other.
    if (thrown instanceof SyntaxError || failureCode(thrown) === 'ENOENT') return nobody()
    throw journalFailure(thrown, path, "read the journal's identity from")
  }
}

const nobody = (): Kept => ({ copy: newWord(4), place: '', own: [] })

function write(journalPath: string, kept: Kept): void {
  const path = `${journalPath}.identity`
  try {
    writeFileSync(`${path}.new`, `${JSON.stringify(kept)}\n`, { mode: 0o600, flush: true })
    renameSync(`${path}.new`, path)
  } catch (thrown) {
    throw journalFailure(thrown, path, "write the journal's identity to")
  }
}

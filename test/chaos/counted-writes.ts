/**
 * What each daemon sends to Nova and to BMCs, counted by the kernel: packets that begin a write, told apart by the group that each daemon
 * runs as. What a deposed daemon itself says it sent would prove nothing.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { lab } from '../nova/lab.ts'
import { pauseMs } from '../nova/stage.ts'

const run = promisify(execFile)

/** A daemon, the group it runs as, and whether it says that it acts. */
export interface Counted {
  name: string
  gid: number
  acts: () => Promise<boolean>
}

/** Ports of the lab's Nova and of its BMCs. */
const ports = [18774, 18090]
const methods = ['POST', 'PUT ', 'DELE', 'PATC']
const table = 'lifeboat_chaos'

/** Pause between two looks. Longer would miss a tenure that is over at once; shorter takes the machine from the daemons. */
const everyMs = 100

interface Look {
  acting: ReadonlySet<string>
  sent: ReadonlyMap<string, number>
}

/** Looks again and again until it is ended, and then says which daemon wrote while another one was active. */
export class CountedWrites {
  readonly #daemons: readonly Counted[]
  readonly #nft: (...words: string[]) => Promise<string>
  readonly #looks: Look[] = []
  #ends = false
  #looking: Promise<void> = Promise.resolve()

  private constructor(daemons: readonly Counted[], root: string) {
    this.#daemons = daemons
    // The lab's own: Debian 12's falls over these rules.
    this.#nft = async (...words) => (await run('chroot', [root, 'nft', ...words])).stdout
  }

  static async begin(daemons: readonly Counted[]): Promise<CountedWrites> {
    const counted = new CountedWrites(daemons, (await lab('root')).trim())
    await counted.#forget()
    await counted.#nft(rules(daemons))
    counted.#looking = counted.#lookOn()
    return counted
  }

  /** Sentences, one for each write of a deposed daemon; and how many writes were counted in all. */
  async end(): Promise<{ wrong: string[]; writes: number }> {
    this.#ends = true
    await this.#looking
    await this.#forget()
    const last = this.#looks.at(-1)?.sent ?? new Map<string, number>()
    return { wrong: writesOfTheDeposed(this.#looks), writes: [...last.values()].reduce((sum, count) => sum + count, 0) }
  }

  async #lookOn(): Promise<void> {
    while (!this.#ends) {
      const acting = new Set<string>()
      const asked = this.#daemons.map(async ({ name, acts }) => {
        if (await acts()) acting.add(name)
      })
      await Promise.all(asked)
      this.#looks.push({ acting, sent: await this.#read() })
      await pauseMs(everyMs)
    }
  }

  async #read(): Promise<Map<string, number>> {
    const { nftables } = JSON.parse(await this.#nft('-j', 'list', 'counters', 'table', 'inet', table)) as {
      nftables: { counter?: { name: string; packets: number } }[]
    }
    return new Map(nftables.flatMap(({ counter }) => (counter === undefined ? [] : [[counter.name, counter.packets]])))
  }

  async #forget(): Promise<void> {
    await this.#nft(`add table inet ${table}; delete table inet ${table}`)
  }
}

function rules(daemons: readonly Counted[]): string {
  const counters = daemons.map(({ name }) => `counter ${name} { }`)
  const counts = daemons.flatMap(({ name, gid }) =>
    ports.flatMap((port) =>
      methods.map((method) => {
        const first = `0x${Buffer.from(method, 'latin1').toString('hex')}`
        return `meta skgid ${gid} tcp dport ${port} @ih,0,32 ${first} counter name "${name}"`
      }),
    ),
  )
  const chain = ['type filter hook output priority 0; policy accept;', ...counts].join('\n')
  return `table inet ${table} {\n${counters.join('\n')}\nchain out {\n${chain}\n}\n}`
}

/**
 * A daemon that did not act in two looks and in the one after them, while another one acted in the first, was deposed all that time: nothing
 * that it sent between the two was its to send.
 */
export function writesOfTheDeposed(looks: readonly Look[]): string[] {
  return looks.flatMap((look, nth) => {
    const [next, after] = [looks[nth + 1], looks[nth + 2]]
    if (next === undefined || after === undefined || look.acting.size === 0) return []
    return [...look.sent].flatMap(([name, before]) => {
      const sent = (next.sent.get(name) ?? 0) - before
      if (sent === 0 || [look, next, after].some(({ acting }) => acting.has(name))) return []
      const writes = sent === 1 ? 'a write' : `${sent} writes`
      return [`${name} sent ${writes} while ${[...look.acting].join()} was active`]
    })
  })
}

/** Who may work at the same time. */
import { describe, expect, it } from 'vitest'
import { Exclusives, Slots } from '../../../src/executor/slots.ts'
import { plan } from './stage.ts'

/** Works that end when the test says so; `running` are those that were begun and are not at their end. */
class Works {
  readonly running: string[] = []
  readonly #ends = new Map<string, (failure: Error | null) => void>()

  readonly work = (name: string) => (): Promise<string> => {
    this.running.push(name)
    return new Promise((resolve, reject) => {
      this.#ends.set(name, (failure) => {
        this.running.splice(this.running.indexOf(name), 1)
        if (failure === null) resolve(name)
        else reject(failure)
      })
    })
  }

  async end(name: string, failure: Error | null = null): Promise<void> {
    this.#ends.get(name)!(failure)
    await turn()
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('slots', () => {
  const set = (all: number, perHost: number) => {
    const works = new Works()
    const shared = Slots.shared(all)
    const host = () => {
      const slots = new Slots(shared, perHost, 0)
      return (name: string, priority = 0) => slots.run(plan({ priority }), works.work(name))
    }
    return { works, host }
  }

  it('only so many of one host at once', async () => {
    const { works, host } = set(9, 2)
    const run = host()
    for (const name of ['a', 'b', 'c']) void run(name)
    await turn()
    expect(works.running).toEqual(['a', 'b'])
    await works.end('a')
    expect(works.running).toEqual(['b', 'c'])
  })

  it('only so many of all hosts at once', async () => {
    const { works, host } = set(2, 9)
    const [one, other] = [host(), host()]
    void one('a')
    void other('b')
    void one('c')
    await turn()
    expect(works.running).toEqual(['a', 'b'])
    await works.end('b')
    expect(works.running).toEqual(['a', 'c'])
  })

  it('of one host the higher priority goes first', async () => {
    const { works, host } = set(9, 1)
    const run = host()
    void run('first', 0)
    void run('low', 1)
    void run('high', 5)
    await turn()
    await works.end('first')
    expect(works.running).toEqual(['high'])
  })

  it('between hosts the higher priority goes first too', async () => {
    const { works, host } = set(1, 9)
    const [one, other] = [host(), host()]
    void one('first', 0)
    void one('low', 1)
    void other('high', 5)
    await turn()
    await works.end('first')
    expect(works.running).toEqual(['high'])
  })

  it('what leaves its room makes way for the next, and still gives its end', async () => {
    const shared = Slots.shared(1)
    const slots = new Slots(shared, 1, 0)
    const came: string[] = []
    let end = (): void => undefined
    const waits = slots.runAlone(plan({ exclusive: 'g' }), async (leaveRoom) => {
      leaveRoom()
      await new Promise<void>((resolve) => (end = resolve))
      return 'waited'
    })
    await slots.runAlone(plan({ exclusive: 'g' }), async () => void came.push('next'))
    expect(came).toEqual(['next'])
    end()
    expect(await waits).toBe('waited')
  })

  it('give what the work gives, and its error', async () => {
    const { works, host } = set(1, 1)
    const run = host()
    const good = run('good')
    const bad = run('bad')
    await turn()
    await works.end('good')
    expect(await good).toBe('good')
    const seen = expect(bad).rejects.toThrow('broken')
    await works.end('bad', new Error('broken'))
    await seen
  })
})

describe('exclusives', () => {
  it('of one key go one after another, in the order they came, and others beside them', async () => {
    const works = new Works()
    const exclusives = new Exclusives()
    void exclusives.run('g', works.work('a'))
    void exclusives.run('g', works.work('b'))
    void exclusives.run('g', works.work('c'))
    void exclusives.run('h', works.work('d'))
    await turn()
    expect(works.running).toEqual(['a', 'd'])
    await works.end('a')
    expect(works.running).toEqual(['d', 'b'])
    await works.end('b')
    expect(works.running).toEqual(['d', 'c'])
  })

  it('without a key go at once', () => {
    const works = new Works()
    const exclusives = new Exclusives()
    void exclusives.run(null, works.work('a'))
    void exclusives.run(null, works.work('b'))
    expect(works.running).toEqual(['a', 'b'])
  })

  it('one that failed does not keep the next from going', async () => {
    const works = new Works()
    const exclusives = new Exclusives()
    const first = exclusives.run('g', works.work('a'))
    const second = exclusives.run('g', works.work('b'))
    const seen = expect(first).rejects.toThrow('broken')
    await turn()
    await works.end('a', new Error('broken'))
    await seen
    expect(works.running).toEqual(['b'])
    await works.end('b')
    expect(await second).toBe('b')
  })

  it('of one key wait for the newest, also when an older one has ended since', async () => {
    const works = new Works()
    const exclusives = new Exclusives()
    void exclusives.run('g', works.work('a'))
    void exclusives.run('g', works.work('b'))
    await turn()
    await works.end('a')
    void exclusives.run('g', works.work('c'))
    await turn()
    expect(works.running).toEqual(['b'])
  })
})

describe('priorities', () => {
  it("of a segment outweigh every instance's", async () => {
    const works = new Works()
    const shared = Slots.shared(1)
    const high = new Slots(shared, 9, 1)
    const low = new Slots(shared, 9, 0)
    void low.run(plan({ priority: 0 }), works.work('first'))
    await turn()
    void low.run(plan({ priority: 1_000 }), works.work('low'))
    void high.run(plan({ priority: -1_000 }), works.work('high'))
    await turn()
    await works.end('first')
    expect(works.running).toEqual(['high'])
    await works.end('high')
    expect(works.running).toEqual(['low'])
  })
})

import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { rehearse } from '../../src/rehearsal/rehearse.ts'
import { loadScenario } from '../../src/rehearsal/scenario.ts'
import { bodyOf } from './rig.ts'

const scenario = (name: string) =>
  loadScenario(fileURLToPath(new URL(`../scenarios/${name}/scenario.yaml`, import.meta.url)))

describe('a whole recovery', () => {
  it('tells each project of its own instances, and no project of a host or of another', async () => {
    let read: { receiver: string; body: string }[] = []
    await rehearse(scenario('an-owner-is-told-within-the-same-poll'), {
      inspect: ({ receivers }) => (read = [...receivers.received]),
    })
    const told = read.filter(({ receiver }) => receiver !== 'pager')
    const texts = told.map(({ body }) => (body.startsWith('{') ? body : letterText(body)))
    expect(texts).toHaveLength(6)
    for (const text of texts) {
      expect(text).not.toMatch(/cmp0\d|green|spare/)
      const projects = ['red', 'blue'].filter((project) => text.includes(project))
      const names = ['shop', 'store', 'lab'].filter((name) => new RegExp(`\\b${name}\\b`).test(text))
      expect([projects, names]).toEqual(projects[0] === 'red' ? [['red'], ['shop', 'store']] : [['blue'], ['lab']])
    }
  })

  it('takes exactly as long beside a receiver that hangs as without one', async () => {
    const hanging = scenario('a-receiver-is-down-for-a-while')
    const lines = async (config: Record<string, unknown>): Promise<string[]> => {
      const { lines: all } = await rehearse({ ...hanging, config })
      return all.filter((line) => /^\S+ (incident|step|outcome|proof|fence)\./.test(line)).map(withoutIds)
    }
    const manager = { receivers: { pager: { kind: 'alertmanager', url: 'http://pager/', resolve_timeout: '1m' } } }
    const without = await lines({})
    expect(await lines(hanging.config)).toEqual(without)
    expect(await lines({ notices: manager })).toEqual(without)
  })
})

function letterText(letter: string): string {
  const [head = ''] = letter.split('\n\n')
  return `${head.replace(/^(Message-ID|X-Lifeboat-Notice): .*$/gm, '')}\n${bodyOf(letter)}`
}

/** Numbers of ids count whatever the transcript shows. */
function withoutIds(line: string): string {
  return line.replace(/#\d+/g, '#')
}

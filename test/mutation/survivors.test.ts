/** The reasons of the mutants that may survive: each belongs to something that still stands in the source. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { judge, readReasons, survivorsOf, type Reason } from './survivors.mjs'

const plain = (text: string): string => text.replace(/\s+/g, ' ')

describe('a survivor', () => {
  const source = 'const a = 1\nif (a > 0 && b) {\n  go()\n}\n'
  const mutant = (line: number, from: number, to: [number, number], replacement: string, status = 'Survived') => ({
    status,
    replacement,
    location: { start: { line, column: from }, end: { line: to[0], column: to[1] } },
  })

  it('is told by what stood there, with what stands around it on its line, however many lines it takes', () => {
    const mutants = [
      mutant(2, 17, [4, 2], '{}', 'NoCoverage'),
      mutant(2, 5, [2, 10], 'true'),
      mutant(1, 11, [1, 12], '2', 'Killed'),
    ]
    expect(survivorsOf('m', { source, mutants })).toEqual([
      { module: 'm', line: 2, text: 'if (a > 0 && b) «{ go() }»', replacement: '{}' },
      { module: 'm', line: 2, text: 'if («a > 0» && b) {', replacement: 'true' },
    ])
  })
})

describe('a judgement', () => {
  const survivor = { module: 'm', text: 'if («a»)', replacement: 'true' }
  const reason = (times: number): Reason[] => [{ title: 't', reason: 'r', entries: [{ ...survivor, times }] }]

  it('names what survives without a reason, also once more than its reason says', () => {
    expect(judge([survivor], [], new Set(['m'])).without).toEqual([survivor])
    expect(judge([survivor, survivor], reason(1), new Set(['m'])).without).toEqual([survivor])
    const well = judge([survivor, survivor], reason(2), new Set(['m']))
    expect(well).toEqual({
      listed: [{ title: 't', reason: 'r', survivors: [survivor, survivor] }],
      without: [],
      idle: [],
    })
  })

  it('names a reason for what no longer survives, of the modules that were run', () => {
    expect(judge([], reason(1), new Set(['m'])).idle).toMatchObject([survivor])
    expect(judge([], reason(1), new Set()).idle).toEqual([])
  })
})

describe('every reason', () => {
  it.each(readReasons().flatMap(({ entries }) => entries))('$module: $text => $replacement', ({ module, text }) => {
    const source = plain(readFileSync(new URL(`../../src/${module}.ts`, import.meta.url), 'utf8'))
    const [known] = text.replace(/…»/, '…').replace(/[«»]/g, '').split('…')
    expect(source).toContain(plain(known!).trim())
  })
})

import { describe, expect, it } from 'vitest'
import { declarations } from '../../src/engine/facts.ts'
import { readShipped } from './shipped.ts'

describe('recovery-workflows/README.md', () => {
  it('lists every fact that a condition may use, and no other', () => {
    const listed: string[] = []
    for (const row of readShipped('README.md').matchAll(/^\| (`\w+\.\w+`[^|]*) \| (?:string|bool|int|map|list)/gm)) {
      let group = ''
      for (const [, name] of row[1]!.matchAll(/`([\w.]+)`/g)) {
        if (!name!.startsWith('.')) group = name!.split('.')[0]!
        listed.push(`${group}.${name!.split('.')[1]!}`)
      }
    }
    const declared = Object.entries(declarations).flatMap(([group, facts]) =>
      Object.keys(facts).map((fact) => `${group}.${fact}`),
    )
    expect(listed.sort()).toEqual(declared.sort())
  })
})

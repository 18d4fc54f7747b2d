import { describe, expect, it } from 'vitest'
import type { Declarations } from '../../src/engine/conditions.ts'
import { crashDeclarations } from '../../src/engine/crash-facts.ts'
import { declarations } from '../../src/engine/facts.ts'
import { processDeclarations } from '../../src/engine/process-workflow.ts'
import { readShipped } from './shipped.ts'

describe('recovery-workflows/README.md', () => {
  it.each<[section: string, declared: Declarations]>([
    ['Conditions', declarations],
    ['Guests that crash', crashDeclarations],
    ['A nova-compute that is down', processDeclarations],
  ])('lists every fact that a condition may use, and no other: %s', (section, declared) => {
    const text = readShipped('README.md')
      .split(/^## /m)
      .find((one) => one.startsWith(`${section}\n`))
    const listed: string[] = []
    for (const row of text!.matchAll(/^\| (`\w+\.\w+`[^|]*) \| (?:string|bool|int|map|list)/gm)) {
      let group = ''
      for (const [, name] of row[1]!.matchAll(/`([\w.]+)`/g)) {
        if (!name!.startsWith('.')) group = name!.split('.')[0]!
        listed.push(`${group}.${name!.split('.')[1]!}`)
      }
    }
    const facts = Object.entries(declared).flatMap(([group, names]) =>
      Object.keys(names).map((fact) => `${group}.${fact}`),
    )
    expect(listed.sort()).toEqual(facts.sort())
  })
})

/** Which host a name means that another program wrote. */
import { describe, expect, it } from 'vitest'
import { hostsMeant } from '../../src/domain/host-name.ts'

describe('a host name', () => {
  it.each<[string, string, string[], string[]]>([
    [
      'means the host of exactly that name, whatever else is like it',
      'cmp01',
      ['cmp01.a', 'CMP01', 'cmp01'],
      ['cmp01'],
    ],
    ['means one in another case', 'CMP01', ['cmp01', 'cmp02'], ['cmp01']],
    [
      'means the one whose short name it is',
      'cmp01',
      ['cmp01.example.org', 'cmp010.example.org'],
      ['cmp01.example.org'],
    ],
    ['means the one whose full name it is', 'Cmp01.example.org', ['cmp01', 'cmp02'], ['cmp01']],
    ['of two that are like it means neither', 'cmp01', ['cmp01.a', 'cmp01.b'], ['cmp01.a', 'cmp01.b']],
    ['of another domain means none', 'cmp01.b', ['cmp01.a'], []],
    ['that is a part of a domain means none', 'cmp01.rack', ['cmp01.rack.example.org'], []],
    ['that only begins like another means none', 'cmp0', ['cmp01', 'cmp01.a'], []],
  ])('%s', (_what, name, known, meant) => {
    expect(hostsMeant(name, known)).toEqual(meant)
  })
})

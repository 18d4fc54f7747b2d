/** Mistakes in the documents for crashed guests and for a nova-compute: each is named, and host-only keys are none of theirs. */
import { describe, expect, it } from 'vitest'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { checkWorkflow, parseWorkflow } from '../../src/engine/workflow.ts'
import { problemsIn, readShipped } from './shipped.ts'

/** What stands once in the shipped document, what stands there instead, and the problems, in the order of the file. */
const otherMistakes: [document: string, of: string, instead: string, problems: string[]][] = [
  ['instance-failure', 'failure: instance', 'failure: guest', ['failure: must be one of: host, process, instance']],
  ['process-failure', 'failure: process', 'failure:', ['failure: must be one of: host, process, instance']],
  [
    'process-failure',
    'failure: process',
    'failure: [process, instance]',
    ['failure: must be one of: host, process, instance'],
  ],
  [
    'process-failure',
    'failure: process',
    'failure: process\nfailure: instance',
    ['this key is here twice (each key once)'],
  ],
  [
    'instance-failure',
    'failure: instance',
    'failure: instance\nhost: { fence: { deadline: 10m } }',
    ['unknown key "host"; allowed here: apiVersion, kind, metadata, failure, instances, recipes'],
  ],
  [
    'instance-failure',
    'failure: instance',
    'failure: process',
    [
      'services: must be a mapping with: rules',
      'unknown key "instances"; allowed here: apiVersion, kind, metadata, failure, services',
      'unknown key "recipes"; allowed here: apiVersion, kind, metadata, failure, services',
    ],
  ],
  ['instance-failure', '  rules:\n', '  order: []\n  rules:\n', ['unknown key "order"; allowed here: rules']],
  [
    'instance-failure',
    'restart: start\n',
    'recover: start\n',
    ['unknown key "recover"; allowed here: id, when, restart, leave, ignore, done, wait, reason, because'],
  ],
  [
    'instance-failure',
    'restart: start\n',
    'restart: start\n      expect: running\n',
    ['unknown key "expect"; allowed here: id, when, restart, leave, ignore, done, wait, reason, because'],
  ],
  ['instance-failure', 'do: start,', 'do: evacuate,', ['recipes.start.steps.0.do: must be one of: reboot, start']],
  [
    'instance-failure',
    'do: start,',
    'do: start, landing: stopped,',
    ['unknown key "landing"; allowed here: id, do, deadline, retry'],
  ],
  [
    'instance-failure',
    '        deadline: 5m\n',
    '        deadline: 5m\n        onError: { default: stuck }\n',
    ['unknown key "onError"; allowed here: id, do, deadline, retry'],
  ],
  [
    'instance-failure',
    '      - { id: start, do: start, deadline: 5m, retry: *refused }\n',
    '      - { id: start, do: start, deadline: 5m }\n      - { id: again, do: start, deadline: 5m }\n',
    ['recipes.start.steps: must hold one step: after it Lifeboat looks again'],
  ],
  [
    'instance-failure',
    '    steps:\n      - { id: start, do: start, deadline: 5m, retry: *refused }\n',
    '    steps: start\n',
    [
      'recipes.start.steps: must be a list of steps',
      'recipes.start.steps: must hold one step: after it Lifeboat looks again',
    ],
  ],
  [
    'instance-failure',
    'first: 1s',
    'first: 1m',
    ['cap must not be shorter than first', 'cap must not be shorter than first'],
  ],
  [
    'instance-failure',
    'restart: start\n',
    'restart: begin\n',
    [
      'there is no recipe "begin"; there are: reboot, start',
      'recipe "start" is never used by a rule or an error route',
    ],
  ],
  [
    'instance-failure',
    '      restart: start\n',
    '',
    [
      'rule "stopped-by-nova" must say one of: restart: RECIPE, leave: true, ignore: true, done: true, wait: true',
      'recipe "start" is never used by a rule or an error route',
    ],
  ],
  [
    'instance-failure',
    '      restart: start\n',
    '      restart: start\n      wait: true\n',
    [
      'rule "stopped-by-nova" must say one of: restart: RECIPE, leave: true, ignore: true, done: true, wait: true',
      'rule "stopped-by-nova" only waits, so it has no reason',
    ],
  ],
  ['instance-failure', '      reason: OFF_BEFORE\n', '', ['rule "off-before" must say its reason, a code']],
  ['instance-failure', '!history.read\n', '!history.known\n', ['the condition is wrong: No such key: known']],
  [
    'instance-failure',
    '!history.read\n',
    'original.wanted == "running"\n',
    ['the condition is wrong: Unknown variable: original'],
  ],
  [
    'instance-failure',
    'off since ${history.stopped_at}',
    'off since ${history.when}',
    ['${history.when} is wrong: No such key: when'],
  ],
  [
    'instance-failure',
    '    - id: crashed\n',
    '    - id: crashed\n      when: report.age > 3\n',
    ['the last rule must take every instance that is left: a rule without when'],
  ],
  ['instance-failure', '    - id: crashed\n', '    - id: error\n', ['rule "error" is there twice; ids are unique']],
  [
    'process-failure',
    'failure: process',
    'failure: process\nrecipes: {}',
    ['unknown key "recipes"; allowed here: apiVersion, kind, metadata, failure, services'],
  ],
  [
    'process-failure',
    '      disable: true\n',
    '      restart: true\n',
    ['unknown key "restart"; allowed here: id, when, disable, leave, enable, because'],
  ],
  ['process-failure', '      disable: true\n', '', ['rule "down" must say one of: disable: true, leave: true']],
  [
    'process-failure',
    '      disable: true\n',
    '      disable: true\n      leave: true\n',
    ['rule "down" must say one of: disable: true, leave: true'],
  ],
  [
    'process-failure',
    '      disable: true\n',
    '      leave: true\n      enable: confirm\n',
    ['rule "down" disables nothing, so it cannot say enable'],
  ],
  [
    'process-failure',
    '      disable: true\n',
    '      disable: true\n      enable: never\n',
    ['services.rules.0.enable: must be one of: automatic, confirm'],
  ],
  [
    'process-failure',
    '    - id: down\n',
    '    - id: down\n      when: instance.locked\n',
    [
      'the last rule must take every service that is left: a rule without when',
      'the condition is wrong: Unknown variable: instance',
    ],
  ],
]

describe('a document of another kind with', () => {
  for (const [name, of, instead, problems] of otherMistakes)
    it(`${instead.trim().replaceAll(/\s+/g, ' ') || `no ${of.trim()}`} (${name})`, () => {
      const source = readShipped(`${name}.yaml`)
      expect(source.split(of)).toHaveLength(2)
      const wrong = source.replace(of, () => instead)
      const found = checkWorkflow(wrong, `${name}.yaml`)
      expect(found.map(({ message }) => message)).toEqual(problems)
      const first = wrong.slice(0, source.indexOf(of)).split('\n').length
      expect(found.some(({ line }) => Math.abs(line - first) <= 6)).toBe(true)
    })

  it.each([
    ['process-failure', '      disable: true\n', '      leave: true\n      enable: confirm\n', 'confirm'],
    ['process-failure', '    - id: down\n', '    - id: down\n      when: host.names == "x"\n', 'names'],
    ['process-failure', 'because: nova-compute', 'because: ${host.names} nova-compute', '${host.names}'],
    [
      'instance-failure',
      'wait: true\n      because: Nova',
      'wait: true\n      reason: TASK\n      because: Nova',
      'TASK',
    ],
    ['instance-failure', 'restart: start\n', 'restart: begin\n', 'begin'],
    ['instance-failure', 'cap: 30s', 'cap: 30ms', '30ms'],
    ['instance-failure', 'when: history.cancelled', 'when: history.ended', 'ended'],
    ['instance-failure', 'since ${history.stopped_at}', 'since ${history.when}', '${history.when}'],
  ])('a mistake in %s is told where it stands (%#)', (name, of, instead, at) => {
    const wrong = readShipped(`${name}.yaml`).replace(of, () => instead)
    const places = checkWorkflow(wrong, `${name}.yaml`).map(({ line, col }) =>
      wrong.split('\n')[line - 1]?.slice(col - 1),
    )
    expect(places.map((place) => place?.slice(0, at.length))).toContain(at)
  })

  it.each([
    ['host', 'process', 'services'],
    ['host', 'instance', 'wait'],
    ['process', 'host', 'host'],
    ['process', 'instance', 'instances'],
    ['instance', 'host', 'host'],
    ['instance', 'process', 'services'],
  ])('failure: %s over what is a document for failure: %s (%s)', (said, is, key) => {
    const source = readShipped(`${is}-failure.yaml`).replace(`failure: ${is}`, `failure: ${said}`)
    const found = checkWorkflow(source, 'x.yaml').map(({ message }) => message)
    expect(found.some((message) => message.startsWith(`unknown key "${key}"; allowed here: `))).toBe(true)
  })

  it.each(['host', 'process', 'instance'])('no word of its kind is told that, and nothing else (%s)', (kind) => {
    const source = readShipped(`${kind}-failure.yaml`).replace(`failure: ${kind}\n`, '')
    const found = checkWorkflow(source, 'x.yaml').map(({ message }) => message)
    expect(found).toEqual(['failure: must be one of: host, process, instance'])
  })

  it('a second document behind it is told so', () => {
    const source = `${readShipped('instance-failure.yaml')}---\n${readShipped('process-failure.yaml')}`
    const found = checkWorkflow(source, 'x.yaml').map(({ message }) => message)
    expect(found).toEqual(['a second document begins here (one document in a file)'])
  })

  it('no mistake is good', () => {
    for (const name of ['instance-failure', 'process-failure'])
      expect(checkWorkflow(readShipped(`${name}.yaml`), `${name}.yaml`)).toEqual([])
  })

  it('is refused where one of hosts is wanted, at the word that says so', () => {
    const source = readShipped('process-failure.yaml')
    const line = source.slice(0, source.indexOf('failure: process')).split('\n').length
    const read = (): unknown => parseWorkflow(source, 'x.yaml', { ownerPolicy: defaultOwnerPolicy })
    expect(problemsIn(read)).toEqual([`x.yaml:${line}:10: failure: must be host here, and is process`])
  })
})

/** Documents are refused as a whole, with every mistake named by file, line and column. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { LifeboatError, problemsOf } from '../../src/domain/errors.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { checkWorkflow, parseWorkflow } from '../../src/engine/workflow.ts'
import { problemText } from '../../src/formats/yaml-source.ts'

const good = readFileSync(new URL('good.yaml', import.meta.url), 'utf8')

/** What stands in the good document, what stands there instead, and each problem as `LINE:COL message`. */
type Mistake = [of: string, instead: string, problems: string[]]

const mistakes: Mistake[] = [
  ['revision: 1', 'revision: 0', ['3:38 metadata.revision: must be a whole number from 1 to 1000000000']],
  ['revision: 1', 'revision: 1.5', ['3:38 metadata.revision: must be a whole number from 1 to 1000000000']],
  ['revision: 1', 'revision: 1000000000', []],
  ['revision: 1', 'revision: 1000000001', ['3:38 metadata.revision: must be a whole number from 1 to 1000000000']],
  ['revision: 1', 'revision: one', ['3:38 metadata.revision: must be a whole number from 1 to 1000000000']],
  ['name: example', 'name: Example', ['3:19 metadata.name: must be an id: lower case letters, digits and hyphens']],
  ['name: example', 'name: "1x"', ['3:19 metadata.name: must be an id: lower case letters, digits and hyphens']],
  ['name: example', 'name: 7', ['3:19 metadata.name: must be an id']],
  ['name: example', 'name: a b', ['3:19 metadata.name: must be an id: lower case letters, digits and hyphens']],
  ['summary: An example', 'summary: ""', ['3:50 metadata.summary: must be a sentence']],
  ['summary: An example', 'summary: 7', ['3:50 metadata.summary: must be a sentence']],
  ['lifeboat/v1', 'lifeboat/v2', ['1:13 apiVersion: must be one of: lifeboat/v1']],
  ['RecoveryWorkflow', 'Workflow', ['2:7 kind: must be one of: RecoveryWorkflow']],
  ['failure: host', 'failure: network', ['4:10 failure: must be one of: host, process, instance']],
  ['order: []', 'order: {}', ['10:10 instances.order: must be a list of keys to sort by']],
  [
    'order: []',
    'order: [{ by: instance.id, descending: maybe }]',
    ['10:42 instances.order.0.descending: must be true or false'],
  ],
  [
    'order: []',
    'order: [{ by: instance.metadata }]',
    ['10:17 the key is wrong: it gives map<string, string>, but must give int or string or bool'],
  ],
  ['order: []', 'order: [{ by: instance.id + }]', ['10:30 the key is wrong: Unexpected token: EOF']],
  [
    'order: []',
    'order: [{ by: instance.id }, { by: instance.power_state, descending: true }, { by: instance.locked }]',
    [],
  ],
  [
    '    - id: running',
    '    - 7\n    - id: running',
    [
      '12:7 instances.rules.0: must be a mapping with: id, when, recover, leave, hold, reason, because, expect, priority, notes, debts',
    ],
  ],
  ['hold: true', 'hold: false', ['19:13 instances.rules.1.hold: must be true, or not there']],
  ['hold: true', 'leave: false', ['19:14 instances.rules.1.leave: must be true, or not there']],
  ['hold: true', 'hold: true\n      expect: stopped', ['20:15 rule "rest" does not recover, so it cannot say expect']],
  ['hold: true', 'hold: true\n      debts: []', ['20:14 rule "rest" does not recover, so it cannot leave debts']],
  ['hold: true', 'hold: true\n      notes: 7', ['20:14 instances.rules.1.notes: must be a list of notes']],
  [
    'recover: evacuate',
    'recover: evacuate\n      debts: 7',
    ['15:14 instances.rules.0.debts: must be a list of debts'],
  ],
  [
    'recover: evacuate',
    'recover: evacuate\n      debts: [{ code: low, say: x }]',
    ['15:23 instances.rules.0.debts.0.code: must be a code: upper case letters, digits and _'],
  ],
  [
    'recover: evacuate',
    'recover: evacuate\n      debts: [{ code: 7, say: x }]',
    ['15:23 instances.rules.0.debts.0.code: must be a code'],
  ],
  [
    'recover: evacuate',
    'recover: evacuate\n      debts: [{ code: XxX, say: x }]',
    ['15:23 instances.rules.0.debts.0.code: must be a code: upper case letters, digits and _'],
  ],
  [
    'recover: evacuate',
    'recover: evacuate\n      debts: [{ code: A_1, when: instance.idd == "", say: "${instance.idd}" }]',
    ['15:43 the condition is wrong: No such key: idd', '15:60 ${instance.idd} is wrong: No such key: idd'],
  ],
  [
    'recover: evacuate',
    'recover: evacuate\n      notes: [{ when: instance.idd == "", say: "${instance.idd}" }]',
    ['15:32 the condition is wrong: No such key: idd', '15:49 ${instance.idd} is wrong: No such key: idd'],
  ],
  ['recover: evacuate', 'recover: ""', ['14:16 instances.rules.0.recover: must be the name of a recipe']],
  [
    'recover: evacuate',
    'recover: evacuate\n      priority: 1001',
    ['15:17 instances.rules.0.priority: must be a whole number from -1000 to 1000'],
  ],
  [
    'recover: evacuate',
    'recover: evacuate\n      priority: -1001',
    ['15:17 instances.rules.0.priority: must be a whole number from -1000 to 1000'],
  ],
  ['recover: evacuate', 'recover: evacuate\n      priority: -1000', []],
  [
    'reason: REST',
    'reason: rest',
    ['20:15 instances.rules.1.reason: must be a code: upper case letters, digits and _'],
  ],
  [
    'reason: REST',
    'reason: RESt',
    ['20:15 instances.rules.1.reason: must be a code: upper case letters, digits and _'],
  ],
  [
    'reason: REST',
    'reason: xREST',
    ['20:15 instances.rules.1.reason: must be a code: upper case letters, digits and _'],
  ],
  ['reason: REST', 'reason: 7', ['20:15 instances.rules.1.reason: must be a code, e.g. RUNNING']],
  [
    'because: Nobody knows',
    'because: ""',
    ['21:16 instances.rules.1.because: must be a sentence; ${…} inserts a fact'],
  ],
  ['expect: running', 'expect: same', ['15:15 instances.rules.0.expect: must be one of: running, stopped, original']],
  [
    'when: instance.vm_state == "active"',
    'when: ""',
    ['13:13 instances.rules.0.when: must be a condition (CEL), in quotes'],
  ],
  [
    'when: instance.vm_state == "active"',
    'when: "true"',
    ['18:7 rule "rest" is never reached: rule "running" takes all of its instances'],
  ],
  [
    'when: instance.vm_state == "active"',
    'when: " true "',
    ['18:7 rule "rest" is never reached: rule "running" takes all of its instances'],
  ],
  [
    'when: instance.vm_state == "active"',
    'when: "false"',
    ['13:13 rule "running" is never reached: its condition is never true'],
  ],
  [
    'when: instance.vm_state == "active"',
    'when: expected == "running"',
    ['13:13 the condition is wrong: Unknown variable: expected'],
  ],
  ['deadline: 60m }', 'deadline: 60m, when: expected == "running" }', []],
  [
    'deadline: 60m }',
    'deadline: 60m, when: expectd == "running" }',
    ['25:80 the condition is wrong: Unknown variable: expectd'],
  ],
  [
    'deadline: 60m }',
    'deadline: 60 }',
    ['25:69 recipes.evacuate.steps.0.deadline: must be a duration (a number with a unit: 250ms, 30s, 5m, 1h30m, 2d)'],
  ],
  [
    'deadline: 60m }',
    'deadline: sixty }',
    ['25:69 recipes.evacuate.steps.0.deadline: must be a duration (a number with a unit: 250ms, 30s, 5m, 1h30m, 2d)'],
  ],
  [
    'deadline: 60m }',
    'deadline: 60m, retry: { on: [], attempts: 2, first: 1s, cap: 1s } }',
    ['25:87 recipes.evacuate.steps.0.retry.on: must name at least one error code'],
  ],
  [
    'deadline: 60m }',
    'deadline: 60m, retry: { on: 7, attempts: 2, first: 1s, cap: 1s } }',
    ['25:87 recipes.evacuate.steps.0.retry.on: must be a list of error codes'],
  ],
  [
    'deadline: 60m }',
    'deadline: 60m, retry: { on: [NO_SUCH], attempts: 2, first: 1s, cap: 1s } }',
    ['25:88 recipes.evacuate.steps.0.retry.on.0: must be an error code of docs/reference/errors.md'],
  ],
  [
    'deadline: 60m }',
    'deadline: 60m, retry: { on: [API_FAULT], attempts: 1, first: 1s, cap: 1s } }',
    ['25:110 recipes.evacuate.steps.0.retry.attempts: must be a whole number from 2 to 1000'],
  ],
  [
    'deadline: 60m }',
    'deadline: 60m, retry: { on: [API_FAULT], attempts: 1001, first: 1s, cap: 1s } }',
    ['25:110 recipes.evacuate.steps.0.retry.attempts: must be a whole number from 2 to 1000'],
  ],
  ['deadline: 60m }', 'deadline: 60m, retry: { on: [API_FAULT], attempts: 1000, first: 1s, cap: 1s } }', []],
  [
    'deadline: 60m }',
    'deadline: 60m, retry: { on: [EVACUATION_FAILED, API_FAULT, DESTINATION_DIED, EVACUATION_LOST, GUEST_ON_DESTINATION], attempts: 2, first: 1s, cap: 1s } }',
    [
      '25:87 EVACUATION_FAILED, DESTINATION_DIED, EVACUATION_LOST, GUEST_ON_DESTINATION leaves the instance in ERROR: route it by onError to a recipe that begins with reset-state',
    ],
  ],
  [
    'deadline: 60m }',
    'deadline: 60m, onError: 7 }',
    ['25:83 recipes.evacuate.steps.0.onError: must be a mapping of error codes to recipes'],
  ],
  [
    'deadline: 60m }',
    'deadline: 60m, onError: { NO_SUCH: fail } }',
    ['25:85 "NO_SUCH" must be an error code of docs/reference/errors.md, or default'],
  ],
  [
    'deadline: 60m }',
    'deadline: 60m, onError: { default: "" } }',
    ['25:94 recipes.evacuate.steps.0.onError.default: must be a recipe, or one of: fail, stuck, left'],
  ],
  ['deadline: 60m }', 'deadline: 60m, onError: { default: left, NO_VALID_HOST: stuck, HOST_ALIVE: fail } }', []],
  [
    'deadline: 60m }',
    'deadline: 60m, onError: { default: toString } }',
    ['25:94 there is no recipe "toString"; there are: evacuate'],
  ],
  [
    'recover: evacuate',
    'recover: toString',
    [
      '14:16 there is no recipe "toString"; there are: evacuate',
      '23:3 recipe "evacuate" is never used by a rule or an error route',
    ],
  ],
  ['  evacuate:\n', '  Evacuate:\n', ['23:3 "Evacuate" must be an id: lower case letters, digits and hyphens']],
  [
    'recipes:\n',
    'recipes: { Bad: { steps: [{ id: a, do: start, deadline: 1m }] } }\nrecipez:\n',
    [
      '22:12 "Bad" must be an id: lower case letters, digits and hyphens',
      '23:1 unknown key "recipez"; allowed here: apiVersion, kind, metadata, failure, host, instances, recipes',
    ],
  ],
  [
    '  evacuate:\n',
    '  evacuate:\n    rounds: 0\n',
    ['24:13 recipes.evacuate.rounds: must be a whole number from 1 to 1000'],
  ],
  [
    '  evacuate:\n',
    '  evacuate:\n    rounds: 1001\n',
    ['24:13 recipes.evacuate.rounds: must be a whole number from 1 to 1000'],
  ],
  [
    '      - { id: evacuate, do: evacuate, landing: as-before, deadline: 60m }',
    '      []',
    ['24:5 recipes.evacuate.steps: must hold at least one step'],
  ],
  [
    '      - { id: evacuate, do: evacuate, landing: as-before, deadline: 60m }',
    '      7',
    ['25:7 recipes.evacuate.steps: must be a list of steps'],
  ],
  ['deadline: 60m }', 'deadline: 60m }\n    finally: 7', ['26:14 recipes.evacuate.finally: must be a list of steps']],
  [
    'deadline: 60m }',
    'deadline: 60m }\n    finally: [{ id: evacuate, do: unlock, deadline: 1m }]',
    ['26:21 step "evacuate" is there twice in recipe "evacuate"; ids are unique'],
  ],
  [
    'deadline: 60m }',
    'deadline: 60m }\n    finally: [{ id: run, do: start, deadline: 1m }]',
    ['26:30 finally may only unlock and stop: it runs also after a cancel, and where the host may live'],
  ],
  [
    'deadline: 60m }',
    'deadline: 60m }\n    finally: [{ id: unlock, do: unlock, deadline: 1m, when: expectd, onError: { default: evacuate } }]',
    [
      '23:3 recipe "evacuate" leads to itself, so it must say rounds: how many times it may be entered',
      '26:61 the condition is wrong: Unknown variable: expectd',
      '26:90 a final step may only lead to: fail, stuck, left',
    ],
  ],
  [
    'deadline: 60m }',
    'deadline: 60m, onError: { default: evacuate } }',
    ['23:3 recipe "evacuate" leads to itself, so it must say rounds: how many times it may be entered'],
  ],
  ['deadline: 60m }', 'deadline: 60m, onError: { default: evacuate } }\n    rounds: 2', []],
  [
    'deadline: 60m }',
    'deadline: 60m }\n      - { id: s, do: start, deadline: 1m, retry: { on: [NO_VALID_HOST], attempts: 2, first: 1s, cap: 1s } }',
    [],
  ],
  [
    'deadline: 60m }',
    'deadline: 60m, onError: { default: fail } }\n  fail:\n    steps: [{ id: a, do: start, deadline: 1m }]',
    ['26:3 recipe "fail" is never used by a rule or an error route'],
  ],
  ['reason: REST', 'reason: 1A', ['20:15 instances.rules.1.reason: must be a code: upper case letters, digits and _']],
  [
    'deadline: 60m }',
    'deadline: 60m, onError: { default: b } }\n  b:\n    steps: [{ id: a, do: start, deadline: 1m, onError: { default: c } }]\n  c:\n    steps: [{ id: a, do: start, deadline: 1m, onError: { default: b } }]',
    ['26:3 recipes lead in a circle: b -> c -> b; only a recipe with rounds may lead back, to itself'],
  ],
  [
    'deadline: 60m }',
    'deadline: 60m, onError: { default: b } }\n  b:\n    steps: [{ id: a, do: start, deadline: 1m, onError: { default: c, HOST_ALIVE: d } }]\n  c:\n    steps: [{ id: a, do: start, deadline: 1m, onError: { default: d } }]\n  d:\n    steps: [{ id: a, do: start, deadline: 1m }]',
    [],
  ],
  [
    'deadline: 60m }',
    'deadline: 60m }\n    finally: [{ id: u, do: unlock, deadline: 1m, onError: { default: b } }]\n  b:\n    steps: [{ id: a, do: start, deadline: 1m }]',
    ['26:70 a final step may only lead to: fail, stuck, left'],
  ],
  [
    'instances:\n',
    'instances:\n  notes: [{ when: instance.idd == "", say: "x ${instance.id} ${instance.idd} y" }]\n',
    ['10:28 the condition is wrong: No such key: idd', '10:62 ${instance.idd} is wrong: No such key: idd'],
  ],
  ['instances:\n', 'instances:\n  notes: 7\n', ['10:10 instances.notes: must be a list of notes']],
  [
    'host:\n',
    'host: 7\nhost2:\n',
    [
      '5:7 host: must be a mapping with: fence, force-down, survey',
      '6:1 unknown key "host2"; allowed here: apiVersion, kind, metadata, failure, host, instances, recipes',
    ],
  ],
  [
    '  rules:\n',
    '  rules: 7\n  rulez:\n',
    ['11:10 instances.rules: must be a list of rules', '12:3 unknown key "rulez"; allowed here: order, rules, notes'],
  ],
  [
    '  rules:\n',
    '  rules: []\n  rulez:\n',
    [
      '11:10 instances.rules: must hold at least one rule',
      '12:3 unknown key "rulez"; allowed here: order, rules, notes',
    ],
  ],
  [
    'recipes:\n',
    'recipes: 7\nrecipez:\n',
    [
      '22:10 recipes: must be a mapping of recipes',
      '23:1 unknown key "recipez"; allowed here: apiVersion, kind, metadata, failure, host, instances, recipes',
    ],
  ],
  [
    'recover: evacuate',
    'recover: evacuate\n      debts: [{ code: 1A, say: x }]',
    ['15:23 instances.rules.0.debts.0.code: must be a code: upper case letters, digits and _'],
  ],
  [
    'name: example, revision: 1,',
    'revision: 0, name: Example, odd: 1, "$&": 2,',
    [
      '3:23 metadata.revision: must be a whole number from 1 to 1000000000',
      '3:32 metadata.name: must be an id: lower case letters, digits and hyphens',
      '3:41 unknown key "odd"; allowed here: name, revision, summary',
      '3:49 unknown key "$&"; allowed here: name, revision, summary',
    ],
  ],
  ['- id: rest', '- id: running', ['18:11 rule "running" is there twice; ids are unique']],
  [
    'because: Nobody knows',
    "because: 'a ${instance.metadata} b'",
    ['21:19 ${instance.metadata} is wrong: it gives map<string, string>, but must give string or int or bool'],
  ],
  ['because: Nobody knows', "because: 'a ${instance.id} ${instance.id'", ['21:34 ${ without its }']],
  [
    'because: Nobody knows',
    'because: >-\n        folded ${instance.idd}',
    ['21:16 ${instance.idd} is wrong: No such key: idd'],
  ],
]

describe('a document with', () => {
  for (const [of, instead, problems] of mistakes)
    it(`${instead.replaceAll('\n', ' ')}${problems.length === 0 ? ' is good' : ''}`, () => {
      expect(good).toContain(of)
      const found = checkWorkflow(
        good.replace(of, () => instead),
        'good.yaml',
      )
      expect(found.map(({ line, col, message }) => `${line}:${col} ${message}`)).toEqual(problems)
    })
})

const bad = new URL('bad/', import.meta.url)

describe('a bad document', () => {
  // Each file names what is expected in its first lines: `# expected: LINE:COL message`.
  for (const name of readdirSync(bad).sort()) {
    it(name.replace('.yaml', '').replaceAll('-', ' '), () => {
      const source = readFileSync(new URL(name, bad), 'utf8')
      const expected = [...source.matchAll(/^# expected: (\d+):(\d+) (.*)$/gm)].map(([, line, col, message]) => ({
        file: name,
        line: Number(line),
        col: Number(col),
        message: expect.stringContaining(message!) as string,
      }))
      expect(expected.length).toBeGreaterThan(0)
      expect(checkWorkflow(source, name)).toEqual(expected)
    })
  }

  it('that is no YAML is told in one line, with its place once', () => {
    const found = checkWorkflow(good.replace('{ name: example', '{ name: example: '), 'x.yaml')
    expect(found).toHaveLength(1)
    expect(found[0]!.message).toMatch(/^is not valid YAML: [^\n]*$/)
    expect(found[0]!.message).not.toContain('line')
  })

  it('that only a lenient reader would take is none', () => {
    const found = checkWorkflow(good.replace('order: []', 'order: [b\n    y: 1]'), 'x.yaml')
    expect(found.map(({ message }) => message)).toEqual([expect.stringMatching(/^is not valid YAML/)])
  })

  it('may name one thing a few hundred times, though not without end', () => {
    const many = Array.from({ length: 300 }, () => '*path').join(', ')
    const source = good.replace('because: It ran', `notes: [&path { say: x }, ${many}]\n      because: It ran`)
    expect(checkWorkflow(source, 'x.yaml')).toEqual([])
  })

  it('that is no mapping at all is told what it must be', () => {
    expect(checkWorkflow('7', 'x.yaml')).toEqual([
      {
        file: 'x.yaml',
        line: 1,
        col: 1,
        message: 'must be a mapping with: apiVersion, kind, metadata, failure, host, instances, recipes',
      },
    ])
  })

  it('throws WORKFLOW_INVALID with a list of them, each with its place', () => {
    const source = readFileSync(new URL('two-mistakes.yaml', bad), 'utf8')
    let thrown: unknown
    try {
      parseWorkflow(source, 'two.yaml', { ownerPolicy: defaultOwnerPolicy })
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(LifeboatError)
    const { code, message, details } = thrown as LifeboatError
    expect([code, message]).toEqual(['WORKFLOW_INVALID', 'two.yaml is not valid: 3 problems'])
    expect(details).toEqual({ problems: checkWorkflow(source, 'two.yaml').map(problemText) })
    expect(problemsOf(thrown as LifeboatError)[0]).toMatch(/^two\.yaml:\d+:\d+: the condition is wrong/)
  })
})

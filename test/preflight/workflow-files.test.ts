/** Which documents of the configured directory are in force. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { reportOf } from '../../src/cli/exit-codes.ts'
import { parseConfig, type Config } from '../../src/config/index.ts'
import { checkWorkflowFiles, loadWorkflows } from '../../src/preflight/workflow-files.ts'
import { testWorkflowFiles } from '../../src/rehearsal/workflow-tests.ts'

const shipped = new URL('../../recovery-workflows/', import.meta.url)
const textOf = (name: string): string => readFileSync(new URL(`${name}.yaml`, shipped), 'utf8')

let directory = ''
let config: Config

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lifeboat-workflows-'))
  config = parseConfig(`workflows: ${directory}\n`, null, {})
  copyFileSync(new URL('host-failure.yaml', shipped), join(directory, 'host-failure.yaml'))
})

afterEach(() => rmSync(directory, { recursive: true, force: true }))

function thrownBy(work: () => unknown): unknown {
  try {
    work()
  } catch (thrown) {
    return thrown
  }
  throw new Error('nothing was thrown')
}

const write = (name: string, text: string): void => writeFileSync(join(directory, `${name}.yaml`), text)

describe('a directory of workflows', () => {
  it('that has the one for hosts alone, as those of older releases do, goes on with the shipped others', () => {
    const { host, process, instance } = loadWorkflows(config)
    expect([host.name, process.name, instance.name]).toEqual(['host-failure', 'process-failure', 'instance-failure'])
    expect(instance.source).toBe(textOf('instance-failure'))
    expect(process.source).toBe(textOf('process-failure'))
  })

  it('decides each kind by the document of its name', () => {
    const own = textOf('instance-failure').replace('revision: 1', 'revision: 7')
    write('instance-failure', own)
    expect(loadWorkflows(config).instance).toMatchObject({ revision: 7, source: own })
  })

  it.each(['instance', 'process'])('is refused if its document for failure: %s has another name', (failure) => {
    write('mine', textOf(`${failure}-failure`).replace(`name: ${failure}-failure`, 'name: mine'))
    const message = `has no workflow named ${failure}-failure for failure: ${failure}`
    expect(() => loadWorkflows(config)).toThrow(message)
  })

  it('is refused if only a document of another kind has the name of the one for hosts', () => {
    write('host-failure', textOf('process-failure').replace('name: process-failure', 'name: host-failure'))
    expect(() => loadWorkflows(config)).toThrow('has no workflow named host-failure for failure: host')
  })

  it.each(['instance', 'process'])('is refused if two documents for failure: %s have its name', (failure) => {
    for (const file of ['first', 'second']) write(file, textOf(`${failure}-failure`))
    expect(() => loadWorkflows(config)).toThrow(`${directory} has two workflows named ${failure}-failure`)
  })

  it('goes on with the first of two documents for hosts, as older releases did', () => {
    write('second', textOf('host-failure').replace('revision: ', 'revision: 9'))
    expect(loadWorkflows(config).host.source).toBe(textOf('host-failure'))
  })

  it('is refused with every problem of every document, each with its place', () => {
    for (const name of ['host-failure', 'process-failure'])
      write(name, textOf(name).replace('apiVersion: lifeboat/v1', 'apiVersion: lifeboat/v0'))
    const report = reportOf(thrownBy(() => loadWorkflows(config)))
    expect(report).toMatchObject({ exit: 78, line: `${directory} is not valid: 2 problems [WORKFLOW_INVALID]` })
    expect(report.details).toEqual([
      expect.stringMatching(/host-failure\.yaml:\d+:\d+: apiVersion/),
      expect.stringMatching(/process-failure\.yaml:\d+:\d+: apiVersion/),
    ])
  })

  it('is refused with the problems of the others if one of its documents cannot be read', () => {
    write('process-failure', textOf('process-failure').replace('apiVersion: lifeboat/v1', 'apiVersion: lifeboat/v0'))
    mkdirSync(join(directory, 'instance-failure.yaml'))
    expect(reportOf(thrownBy(() => loadWorkflows(config))).details).toEqual([
      expect.stringMatching(/instance-failure\.yaml: it is a directory, and no file/),
      expect.stringMatching(/process-failure\.yaml:\d+:\d+: apiVersion/),
    ])
  })

  it('is refused, and not replaced by the shipped one, if a document breaks its reader', () => {
    write('process-failure', '['.repeat(20_000))
    expect(() => loadWorkflows(config)).toThrow()
  })

  it('is wrong to a check, too, if its documents are good and it is refused', () => {
    write('mine', textOf('process-failure').replace('name: process-failure', 'name: mine'))
    expect(checkWorkflowFiles(config, []).map(({ file, problems }) => [file, problems])).toEqual([
      [join(directory, 'host-failure.yaml'), []],
      [join(directory, 'mine.yaml'), []],
      [directory, [`${directory} has no workflow named process-failure for failure: process`]],
    ])
    expect(checkWorkflowFiles(config, [join(directory, 'mine.yaml')])).toMatchObject([{ problems: [] }])
  })

  it('is checked whole, whatever the kinds of its documents', () => {
    write('instance-failure', textOf('instance-failure').replace('do: start', 'do: evacuate'))
    write('process-failure', textOf('process-failure'))
    const found = checkWorkflowFiles(config, []).map(({ name, problems }) => [name, problems.length])
    expect(found).toEqual([
      ['host-failure', 0],
      [null, 1],
      ['process-failure', 0],
    ])
    const place = /instance-failure\.yaml:\d+:\d+: recipes\.start\.steps\.0\.do: must be/
    expect(reportOf(thrownBy(() => loadWorkflows(config))).details).toEqual([expect.stringMatching(place)])
  })
})

describe('lifeboat workflow test', () => {
  it('runs the expected plans of every kind', () => {
    const files = ['host', 'instance', 'process'].map((kind) => new URL(`tests/${kind}-failure.yaml`, shipped).pathname)
    const results = testWorkflowFiles(config, files)
    expect(new Set(results.map(({ file }) => file))).toEqual(new Set(files))
    expect(results.filter(({ differences }) => differences.length > 0)).toEqual([])
  })

  it('says what a plan of a crashed guest, and a ruling on a nova-compute, have instead', () => {
    const file = (kind: string): string => join(directory, `${kind}.test.yaml`)
    const head = (kind: string): string =>
      `apiVersion: lifeboat/v1\nkind: WorkflowTest\nworkflow: ${kind}-failure\ncases:\n`
    for (const kind of ['instance', 'process']) write(`${kind}-failure`, textOf(`${kind}-failure`))
    const crash = '{ decision: leave, reason: X, rule: x, recipe: start, asProject: true, says: nothing }'
    writeFileSync(file('instance'), `${head('instance')}  - { name: wrong, expect: ${crash} }\n`)
    const ruling = '{ decision: leave, rule: x, enable: confirm, says: nothing }'
    writeFileSync(file('process'), `${head('process')}  - { name: wrong, expect: ${ruling} }\n`)
    expect(testWorkflowFiles(config, ['instance', 'process'].map(file)).map(({ differences }) => differences)).toEqual([
      [
        'decision: expected "leave", the plan has "restart"',
        'reason: expected "X", the plan has "CRASHED"',
        'rule: expected "x", the plan has "crashed"',
        'recipe: expected "start", the plan has "reboot"',
        'asProject: expected true, the plan has false',
        'says: expected "nothing" in "its hypervisor says that it does not run"',
      ],
      [
        'decision: expected "leave", the plan has "disable"',
        'rule: expected "x", the plan has "down"',
        'enable: expected "confirm", the plan has null',
        'says: expected "nothing" in "nova-compute is down, and would fail at or lose whatever Nova sends it"',
      ],
    ])
  })
})

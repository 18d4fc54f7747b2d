import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Config } from '../../src/config/index.ts'
import { openJournalAccess } from '../../src/review/journal-access.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { HoldCode } from '../../src/domain/incident-phases.ts'
import type { IncidentSummary } from '../../src/domain/operations.ts'
import { openJournal } from '../../src/journal/journal.ts'
import type { Advice } from '../../src/domain/review.ts'
import { anEntry, anIncident, configFile, fakeJournal, run, standingClock } from './fake-commands.ts'

describe('usage errors end with 2, say one line, and print nothing on stdout', () => {
  it.each([
    ['an unknown command', ['recovr', 'cmp01'], /^lifeboat: unknown command 'recovr'/],
    ['an unknown option', ['status', '--fromat', 'json'], /^lifeboat: unknown option '--fromat'/],
    ['recover without a proof', ['recover', 'cmp01'], /^lifeboat: required option '--proof <text>' not specified/],
    ['recover with an empty proof', ['recover', 'cmp01', '--proof', ' '], /must not be empty/],
    ['recover without a host', ['recover', '--proof', 'x'], /^lifeboat: missing required argument 'host'/],
    ['pause without a reason', ['pause', '--for', '2h'], /--reason/],
    ['pause for no duration', ['pause', '--for', '2', '--reason', 'x'], /It must be a duration such as 30m or 2h/],
    [
      'a plan of a process and of an instance at once',
      ['plan', 'cmp01', '--process', '--instance', 'web'],
      /'--instance <name>' cannot be used with option '--process'/,
    ],
    [
      'a plan of a process of every host',
      ['plan', '--all', '--process'],
      /'--process' cannot be used with option '--all'/,
    ],
    ['a plan of an instance without its host', ['plan', '--instance', 'web'], /name one host, or say --all/],
    ['two hosts at once', ['plan', 'cmp01', 'cmp02'], /too many arguments/],
    [
      'an unknown format',
      ['incident', 'list', '-f', 'xml'],
      /^lifeboat: there is no format "xml" here\n {2}formats: table/,
    ],
    [
      'an unknown column',
      ['incident', 'list', '-c', 'Hots'],
      /^lifeboat: there is no column "Hots" here\n {2}columns: ID, Host/,
    ],
    ['a journal as a table', ['journal', 'export', '-f', 'table'], /formats: post-mortem, markdown, json/],
    ['a limit that is no number', ['incident', 'list', '--limit', 'many'], /whole number/],
    [
      'a time that ends before it begins',
      ['journal', 'list', '--since', '2h', '--until', '3h'],
      /^lifeboat: --until \(\S+\) is before --since \(\S+\)\n {2}see `lifeboat journal list --help`\n$/,
    ],
    ['where the help is', ['incident', 'note', 'i-1'], /'text'\n {2}see `lifeboat incident note --help`\n$/],
    ['one host for a demo', ['demo', '--hosts', '1'], /from 2 to/],
  ])('%s', async (_name, argv, message) => {
    const { exit, out, err } = await run(argv)
    expect([exit, out]).toEqual([2, ''])
    expect(err).toMatch(message)
  })

  it('a wrong format is said before anything is asked of the cloud', async () => {
    const planFailure = () => Promise.reject(new Error('asked'))
    expect((await run(['plan', 'cmp01', '-f', 'xml'], { planFailure })).exit).toBe(2)
  })

  it('nobody acts without a name', async () => {
    const { exit, err } = await run(['resume', '--reason', 'x'], {}, { env: { USER: '' } })
    expect([exit, err]).toEqual([2, 'lifeboat: your account has no name\n  set USER: the journal records who acts\n'])
  })
})

describe('exit codes', () => {
  it('help and version are no failures', async () => {
    expect(await run(['--version'])).toEqual({
      exit: 0,
      out: '0.1.0, bundle of commit 0123abcd (2026-01-02), built with Node.js 20.19.0\n',
      err: '',
    })
    const help = await run(['--help'])
    expect(help.exit).toBe(0)
    expect(help.out).toMatch(/Exit codes:\n {2}0 +done\n {2}1 +[^\n]+\n {2}2 /)
  })

  it('a bad configuration is 78 and shows every problem', async () => {
    const { exit, out, err } = await run(['run'], {}, { config: 'mode: amred\nmonitr: {}\n' })
    expect([exit, out]).toEqual([78, ''])
    expect(err).toMatch(
      /^lifeboat: \S+ is not valid: 2 problems \[CONFIG_INVALID\]\n {2}\S+:2:7: mode: "amred" is wrong \(allowed: observe, armed\)\n {2}\S+:3:1: monitr is not an option/,
    )
  })

  it.each([
    ['JOURNAL_UNAVAILABLE', 74],
    ['JOURNAL_CORRUPT', 74],
    ['WORKFLOW_INVALID', 78],
    ['AUTH_FAILED', 77],
    ['API_UNAVAILABLE', 1],
  ] as const)('%s is %i, with its causes', async (code, expected) => {
    const runDaemon = () => Promise.reject(new LifeboatError(code, 'It did not work', { cause: new Error('deeper') }))
    expect(await run(['run'], { runDaemon })).toEqual({
      exit: expected,
      out: '',
      err: `lifeboat: It did not work [${code}]\n  because: deeper\n`,
    })
  })

  it('a bug says that it is one', async () => {
    const { exit, err } = await run(['run'], { runDaemon: () => Promise.reject(new TypeError('x is undefined')) })
    expect(exit).toBe(1)
    expect(err).toMatch(/^lifeboat: internal error \(please report\): x is undefined\n/)
  })
})

describe('journal', () => {
  it('list asks for the newest and shows them oldest first', async () => {
    const asked: unknown[] = []
    const read = (filter: unknown) => {
      asked.push(filter)
      return [{ ...anEntry, seq: 6 }, anEntry]
    }
    const { out } = await run(['journal', 'list', '--host', 'cmp01', '-f', 'value', '-c', 'Seq', '-c', 'Message'], {
      openReader: () => fakeJournal({ read }),
    })
    expect(out).toBe('5 said incident.phase\n6 said incident.phase\n')
    expect(asked).toEqual([{ host: 'cmp01', limit: 50, newestFirst: true }])
  })

  it('verify of a broken chain fails and says where', async () => {
    const verify = () => ({ entries: 9, head: 'x', broken: { seq: 4, problem: 'its hash does not fit' } })
    const { exit, out } = await run(['journal', 'verify'], { openReader: () => fakeJournal({ verify }) })
    expect(exit).toBe(1)
    expect(out).toContain('| Problem   | its hash does not fit |')
  })

  it('export: the whole journal as json, or one incident as a report', async () => {
    expect((await run(['journal', 'export'])).out).toBe('json of everything\nend\n')
    expect((await run(['journal', 'export', '--format', 'markdown', 'i-1'])).out).toBe('markdown of i-1\nend\n')
  })

  it('is closed whatever happens', async () => {
    let closed = 0
    const journal = fakeJournal({
      close: () => void (closed += 1),
      verify: () => {
        throw new LifeboatError('JOURNAL_CORRUPT', 'no')
      },
    })
    await run(['journal', 'verify'], { openReader: () => journal })
    expect(closed).toBe(1)
  })
})

describe('incident', () => {
  it('list', async () => {
    const { out } = await run(['incident', 'list'])
    expect(out).toContain('| i-1 | cmp01 | ceph    | 2026-01-02 03:00:00Z | done, not signed off | 2 ')
    expect(out).toContain('1 recovered, 1 stuck')
  })

  it('diff shows what differs, durations as people read them; all of it with --all, and in ms for programs', async () => {
    const { out } = await run(['incident', 'diff', 'i-1', 'i-2', '-f', 'csv'])
    expect(out).toBe('"Part","Fact","First","Second"\r\n"time","phase fencing",4200,""\r\n"instances","failed",0,3\r\n')
    expect((await run(['incident', 'diff', 'i-1', 'i-2'])).out).toMatch(/\| phase fencing \| 4\.2 s \| – +\|/)
    expect((await run(['incident', 'diff', 'i-1', 'i-2', '--all'])).out).toContain('armed')
  })

  it('list tells what needs a person: what nobody answers for, and what is held until someone acts', async () => {
    const { ended: _ended, ...open } = anIncident
    const held = (code: HoldCode) => ({ code, message: 'm', since: anIncident.openedAt })
    const incidents = (): IncidentSummary[] => [
      { ...open, id: 'brake', ended: null, held: held('BRAKE') },
      { ...open, id: 'frozen', ended: null, held: held('FROZEN') },
      { ...open, id: 'goes-on', ended: null },
      { ...anIncident, id: 'unsigned' },
      { ...anIncident, id: 'signed', signedOff: { by: 'ann', at: anIncident.openedAt } },
      { ...anIncident, id: 'all-back', outcomes: { recovered: 2 } },
      { ...anIncident, id: 'observed', mode: 'observe' },
    ]
    const openReader = () => fakeJournal({ incidents })
    const needs = JSON.parse((await run(['incident', 'list', '-f', 'json'], { openReader })).out) as Record<
      string,
      unknown
    >[]
    expect(needs.map((row) => [row['ID'], row['Needs']])).toEqual([
      ['brake', 'person'],
      ['frozen', null],
      ['goes-on', null],
      ['unsigned', 'sign-off'],
      ['signed', null],
      ['all-back', null],
      ['observed', null],
    ])
    const { out } = await run(['incident', 'list'], { openReader })
    for (const said of ['held: BRAKE, needs a person', '| done, not signed off ', '| done, signed off by ann '])
      expect(out).toContain(said)
  })

  it('list --unsettled asks for what nobody has signed off; with --open it is a slip', async () => {
    const asked: unknown[] = []
    const incidents = (filter: unknown): IncidentSummary[] => (asked.push(filter), [])
    await run(['incident', 'list', '--unsettled'], { openReader: () => fakeJournal({ incidents }) })
    expect(asked).toEqual([{ unsettled: true, limit: 100 }])
    expect((await run(['incident', 'list', '--unsettled', '--open'])).exit).toBe(2)
  })

  it('list says how long each took, and nothing of one that is open', async () => {
    const incidents = (): IncidentSummary[] => [anIncident, { ...anIncident, id: 'i-2', ended: null }]
    const { out } = await run(['incident', 'list', '-f', 'json', '-c', 'Ended', '-c', 'Took'], {
      openReader: () => fakeJournal({ incidents }),
    })
    expect(JSON.parse(out)).toEqual([
      { Ended: '2026-01-02T03:00:12.000Z', Took: 12_000 },
      { Ended: null, Took: null },
    ])
  })

  it('show tells what died, how we know, what fenced it, and every instance with its end', async () => {
    const { out } = await run(['incident', 'show', 'i-1'])
    for (const said of [
      'cmp01 (segment ceph)',
      'host-down (SILENT_AND_PROBES_DEAD)',
      'Probe ssh (tcp) says dead: no answer within 1 s',
      'Proven dead at 2026-01-02 03:00:03Z by bmc (power-off)',
      'PowerState Off',
      'active, power running, wanted running',
      'recovered on cmp02, active (RUNNING)',
      'stuck (EVACUATION_STALLED)',
      'Its memory was lost',
      'leaves behind LEFTOVER_MIGRATION',
      "look in Nova's logs for evacuate req-77",
    ]) {
      expect(out).toContain(said)
    }
    expect(out).not.toContain('\u001b')
  })

  it('show says first what must be done, and whom it helps before who is well, each with its time', async () => {
    const advice = (): Advice[] => [
      { code: 'HELD_BRAKE', text: 'The brake holds', command: 'lifeboat incident override i-1', instances: [] },
      { code: 'INSTANCES_LEFT', text: 'Some are left', command: null, instances: ['aaaa-1', 'b', 'c', 'd'] },
    ]
    const { out } = await run(['incident', 'show', 'i-1'], { openReader: () => fakeJournal({ advice }) })
    const order = [
      '| Instances ',
      'What to do',
      '  1. The brake holds\n     lifeboat incident override i-1\n  2. Some are left\n     web, b, c and 1 more\n',
      'How we know',
      '\nInstances\n',
      'stuck (EVACUATION_STALLED)',
      'ended at 2026-01-02 03:00:11Z',
      'recovered on cmp02, active (RUNNING)',
      'back at 2026-01-02 03:00:09Z',
    ].map((said) => out.indexOf(said))
    expect(order).not.toContain(-1)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect((await run(['incident', 'show', 'i-1'])).out).toContain('What to do\n  Nothing is left to do\n')
  })

  it('show says who reported a crash, since no verdict led to it', async () => {
    const crashed = { instance: 'aaaa-1', name: 'web', event: 'STOPPED_FAILED' }
    const incident = () => ({ ...anIncident, crashed, verdict: null, openedBy: 'monitor' })
    const { out } = await run(['incident', 'show', 'i-1'], { openReader: () => fakeJournal({ incident }) })
    expect(out).toContain('How we know\n  monitor reported it (STOPPED_FAILED)')
  })

  it.each([
    ['show'],
    ['override', '--reason', 'r'],
    ['cancel', '--reason', 'r'],
    ['note', 'n'],
    ['sign-off', '--reason', 'r'],
  ])('%s of an empty id is a slip', async (act, ...more) => {
    const { exit, err } = await run(['incident', act, '', ...more])
    expect(exit).toBe(2)
    expect(err).toContain('It must not be empty')
  })

  it.each([
    ['was refused: it was sent, and has no id of Nova’s', 1, 'its steps: lifeboat journal list --instance bbbb-2'],
    ['was never begun', 0, 'nothing was sent for it'],
  ])('show of an instance whose evacuation %s', async (_what, count, said) => {
    const instanceList = anIncident.instanceList.map((one) => ({
      ...one,
      steps: one.steps.slice(0, count).map((step) => ({ ...step, requestId: null })),
    }))
    const journal = fakeJournal({ incident: () => ({ ...anIncident, instanceList }) })
    const { out } = await run(['incident', 'show', 'i-1'], { openReader: () => journal })
    expect(out).toContain(said)
  })

  it('show -f json is the whole incident; -c picks fields', async () => {
    expect(JSON.parse((await run(['incident', 'show', 'i-1', '-f', 'json'])).out)).toMatchObject({
      id: 'i-1',
      instanceList: [{}, {}],
    })
    expect((await run(['incident', 'show', 'i-1', '-f', 'value', '-c', 'Host'])).out).toBe('cmp01\n')
  })

  it('latest is the newest one where incidents are read; an order must name its own', async () => {
    const asked: unknown[] = []
    const incidents = (filter: unknown): IncidentSummary[] => (asked.push(filter), [anIncident])
    const compare = (first: string, second: string) => (
      asked.push([first, second]),
      { first, second, open: [], facts: [] }
    )
    const commands = { openReader: () => fakeJournal({ incidents, compare }) }
    const shown = await run(['incident', 'show', 'latest', '-f', 'value', '-c', 'ID'], commands)
    await run(['incident', 'diff', '20260101T030000Z-cmp09', 'latest'], commands)
    expect([shown.out, asked]).toEqual(['i-1\n', [{ limit: 1 }, { limit: 1 }, ['20260101T030000Z-cmp09', 'i-1']]])
    const none = { openReader: () => fakeJournal({ incidents: () => [] }) }
    expect(await run(['incident', 'show', 'latest'], none)).toMatchObject({
      ...{ exit: 1, err: 'lifeboat: There is no incident yet [NOT_FOUND]\n' },
    })
  })

  describe('the beginning of an id', () => {
    const [newer, older] = ['20260102T030000Z-cmp01', '20260102T010000Z-cmp02']
    const openReader = () =>
      fakeJournal({
        incidents: () => [newer, older].map((id) => ({ ...anIncident, id })),
        incident: (id) => ({ ...anIncident, id }),
      })
    const show = (given: string) => run(['incident', 'show', given, '-f', 'value', '-c', 'ID'], { openReader })

    it('is enough where one incident has it', async () => {
      expect(await show('20260102T01')).toMatchObject({ exit: 0, out: `${older}\n` })
    })
    it('that several have is a slip, and they are named', async () => {
      expect(await show('20260102')).toMatchObject({
        exit: 2,
        err: expect.stringContaining(
          `begin with 20260102: give more of it [USAGE]\n  ${newer}\n  ${older}\n`,
        ) as string,
      })
    })
  })

  it('a host stands for its newest incident', async () => {
    expect((await run(['incident', 'show', 'cmp01', '-f', 'value', '-c', 'ID'])).out).toBe('i-1\n')
  })

  it('one that does not exist fails', async () => {
    expect(await run(['incident', 'show', 'nope'])).toEqual({
      exit: 1,
      out: '',
      err: 'lifeboat: There is no incident nope [NOT_FOUND]\n',
    })
  })
})

describe('journal export', () => {
  it.each(['json', 'markdown', 'post-mortem'])(
    'of an incident that there is not is no empty %s file, but a failure',
    async (format) => {
      const file = configFile('')
      openJournal(`${dirname(file)}/journal.db`, { clock: standingClock }).close()
      const openReader = (config: Config) => openJournalAccess(config.journal, config)
      const argv = ['journal', 'export', 'nope', '-f', format]
      expect(await run(argv, { openReader }, { env: { LIFEBOAT_CONFIG: file } })).toEqual({
        exit: 1,
        out: '',
        err: 'lifeboat: There is no incident nope (lifeboat incident list shows them) [NOT_FOUND]\n',
      })
    },
  )
})

describe('before the daemon ever ran', () => {
  it.each([
    ['journal', 'list'],
    ['journal', 'verify'],
    ['incident', 'list'],
    ['incident', 'show', 'i-1'],
    ['notice', 'list'],
  ])('%s %s says that there is no journal yet, who makes it and where it was looked for', async (...argv) => {
    const file = configFile('')
    const openReader = (config: Config) => openJournalAccess(config.journal, config)
    const { exit, out, err } = await run(argv, { openReader }, { env: { LIFEBOAT_CONFIG: file } })
    expect([exit, out]).toEqual([74, ''])
    expect(err).toBe(
      `lifeboat: there is no journal yet at ${dirname(file)}/journal.db\n  the daemon creates it when it first runs: start it with \`lifeboat run\` or \`systemctl start lifeboat\`\n  state_dir is ${dirname(file)} (from ${file}:1); pass another configuration with --config\n`,
    )
  })
})

describe('the help of a command', () => {
  it('names the options of every command that mean something there', async () => {
    const { out } = await run(['incident', 'list', '--help'])
    expect(out).toMatch(/Global Options:\n {2}--config <file>/)
    expect(out).toContain('-f, --format <format>')
    const running = (await run(['run', '--help'])).out
    expect(running).toContain('--config <file>')
    expect(running).not.toContain('--format')
    expect((await run(['--help'])).out).not.toContain('Global Options')
  })
})

describe('generate', () => {
  it('is for developers: it works and is not in the help', async () => {
    const generate = () => Promise.resolve(['config/lifeboat.schema.json'])
    expect((await run(['generate'], { generate })).out).toBe('config/lifeboat.schema.json\n')
    expect((await run(['--help'], { generate })).out).not.toContain('generate')
  })
})

describe('workflow check', () => {
  it('an invalid workflow is 78', async () => {
    const checkWorkflows = () =>
      Promise.resolve([
        {
          file: 'a.yaml',
          name: null,
          revision: null,
          digest: null,
          problems: ['a.yaml:1:1: no', 'a.yaml:2:1: neither'],
        },
      ])
    const { exit, out } = await run(['workflow', 'check'], { checkWorkflows })
    expect(exit).toBe(78)
    expect(out).toContain('| a.yaml:2:1: neither |')
  })
})

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { parse } from 'yaml'
import { parseConfig, segmentOf } from '../../src/config/index.ts'
import { masakariImport } from '../../src/masakari/masakari-import.ts'
import { readMasakari } from '../../src/masakari/masakari-reading.ts'
import { startSimulator, VirtualClock } from '../../src/simulator/index.ts'
import type { MasakariHost, MasakariInventory, MasakariSegment } from '../../src/openstack/masakari.ts'

const host = (name: string, change: Partial<MasakariHost> = {}): MasakariHost => ({
  uuid: `uuid-of-${name}`,
  name,
  type: 'COMPUTE',
  controlAttributes: 'SSH',
  reserved: false,
  onMaintenance: false,
  ...change,
})
const segment = (name: string, hosts: MasakariHost[], change: Partial<MasakariSegment> = {}): MasakariSegment => ({
  uuid: `uuid-of-${name}`,
  name,
  description: null,
  recoveryMethod: 'auto',
  serviceType: 'COMPUTE',
  enabled: true,
  hosts,
  ...change,
})
function imported(segments: MasakariSegment[], more: Partial<MasakariInventory> = {}, novaHosts?: string[]) {
  const known = novaHosts ?? segments.flatMap(({ hosts }) => hosts.map(({ name }) => name))
  return masakariImport({ from: 'lab', inventory: { segments, notifications: [], ...more }, novaHosts: known })
}
const notes = (...given: Parameters<typeof imported>): string => imported(...given).notes.join('\n')

describe('the fragment', () => {
  it('is a configuration here: each host is in the segment of its name', () => {
    const { yaml } = imported([
      segment('rack-a', [host('cmp01'), host('cmp02')]),
      segment('Rack B / ceph', [host('cmp03.example.org')], { description: 'Ünïcode: "quotes" # and hash' }),
    ])
    const config = parseConfig(yaml, null, {})
    const of = (name: string): string => segmentOf(config)(name, 'nova', []).name
    expect(['cmp01', 'cmp02', 'cmp03.example.org', 'cmp09'].map(of)).toEqual([
      'rack-a',
      'rack-a',
      'Rack B / ceph',
      'default:nova',
    ])
  })

  it('leaves out a segment without hosts: our loader refuses one that matches nothing', () => {
    const made = imported([segment('empty', []), segment('a', [host('cmp01')])])
    expect(parse(made.yaml)).toEqual({ segments: [{ name: 'a', match: { hosts: ['cmp01'] } }] })
    expect(made.notes.join('\n')).toContain('Segment empty has no hosts and was left out')
  })

  it('takes no other host into a segment: a host whose name would be a pattern here is left out', () => {
    const made = imported([
      segment('a', [host('cmp*'), host('cmp01')]),
      segment('b', [host('?', { onMaintenance: true })], { enabled: false }),
    ])
    expect(parse(made.yaml)).toEqual({ segments: [{ name: 'a', match: { hosts: ['cmp01'] } }] })
    expect(made.maintenance).toEqual([])
    expect(made.notes.join('\n')).toContain('Host "cmp*" was left out')
    expect(made.notes.join('\n')).toContain('Segment b has no hosts')
  })

  it('of a Masakari with nothing is an empty one', () => {
    expect(parse(imported([]).yaml)).toEqual({ segments: [] })
  })

  it('says of a host what it was in Masakari', () => {
    const { yaml } = imported([segment('a', [host('cmp01', { reserved: true, onMaintenance: true })])])
    expect(yaml).toContain('- cmp01 # reserved in Masakari, on maintenance in Masakari\n')
  })

  it('whatever people called things, it holds exactly their names and nothing else', () => {
    const text = fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' })
    const odd = fc.oneof(
      text,
      fc.constantFrom('true', '1', '- x', 'a: b', '# no', 'x\ny: z', '\u2028', '{', "'", '"', '~'),
    )
    fc.assert(
      fc.property(odd, odd, odd, (name, hostName, description) => {
        fc.pre(!/[*?]/.test(hostName))
        const { yaml } = imported([segment(name, [host(hostName)], { description, recoveryMethod: description })])
        expect(parse(yaml)).toEqual({ segments: [{ name, match: { hosts: [hostName] } }] })
      }),
    )
  })

  it('a segment that has the name of hosts without one gets another', () => {
    const { yaml } = imported([segment('default', [host('x')]), segment('default:nova', [host('y')])])
    const config = parseConfig(yaml, null, {})
    expect(config.segments.map(({ segment: { name } }) => name)).toEqual(['masakari-default', 'masakari-default:nova'])
  })

  it('two segments of one name get names apart', () => {
    const { yaml } = imported([segment('a', [host('x')]), segment('a', [host('y')])])
    expect(() => parseConfig(yaml, null, {})).not.toThrow()
    expect((parse(yaml) as { segments: { name: string }[] }).segments.map(({ name }) => name)).toEqual(['a', 'a-2'])
  })
})

describe('UUIDs that clients may have kept', () => {
  const [of, at] = ['0c5a3c54-0bcd-4b0c-9f4f-7a3a2c1b5d11', '7F2B8D5E-6f0a-4c2e-8a66-1d2f3e4c5b6a']

  it('go on: the API here shows the same', () => {
    const { yaml } = imported([segment('default', [host('cmp01', { uuid: at })], { uuid: of })])
    const { uuids } = parseConfig(yaml, null, {}).masakariRules
    expect([...uuids.segments, ...uuids.hosts]).toEqual([
      ['masakari-default', of],
      ['cmp01', at.toLowerCase()],
    ])
  })

  it('are told once, whatever Masakari tells', () => {
    const twice = [host('cmp01', { uuid: of }), host('cmp02', { uuid: at }), host('cmp01', { uuid: at })]
    const { yaml } = imported([segment('a', twice, { uuid: of }), segment('b', twice, { uuid: of })])
    expect(() => parseConfig(yaml, null, {})).not.toThrow()
  })
})

describe('maintenance', () => {
  it('hosts on maintenance there, and segments disabled there', () => {
    const { maintenance } = imported([
      segment('a', [host('cmp01', { onMaintenance: true }), host('cmp02')]),
      segment('off', [host('cmp03')], { enabled: false }),
      segment('off and empty', [], { enabled: false }),
    ])
    expect(maintenance).toEqual([
      { scope: { kind: 'host', name: 'cmp01' }, reason: 'on_maintenance in Masakari' },
      { scope: { kind: 'segment', name: 'off' }, reason: 'segment disabled in Masakari' },
    ])
  })
})

describe('the report', () => {
  it('begins with work that Masakari has not finished: two systems must never recover one host', () => {
    const inventory = {
      notifications: [
        {
          uuid: 'n-1',
          type: 'COMPUTE_HOST',
          status: 'running',
          hostUuid: 'uuid-of-cmp01',
          generatedAt: '2026-01-02T03:04:05',
        },
      ],
    }
    expect(imported([segment('a', [host('cmp01')])], inventory).notes[0]).toMatch(
      /notification n-1 \(COMPUTE_HOST of cmp01\) has been running since .* never recover one host/,
    )
  })

  it.each(['reserved_host', 'auto_priority', 'rh_priority'])('says what becomes of %s', (recoveryMethod) => {
    expect(notes([segment('a', [host('cmp01')], { recoveryMethod })])).toContain(
      `Segment a had recovery_method ${recoveryMethod}: `,
    )
  })

  it('says nothing of auto, which is what happens here', () => {
    expect(notes([segment('a', [host('cmp01')])])).not.toContain('recovery_method')
  })

  it('names reserved hosts, attributes that were not taken over, and a service type', () => {
    const said = notes([
      segment('a', [host('cmp01', { reserved: true }), host('cmp02', { controlAttributes: 'ipmi=10.0.0.2' })], {
        serviceType: 'POWER',
      }),
    ])
    expect(said).toContain('Reserved hosts (cmp01)')
    expect(said).toContain('control_attributes of cmp02 were not taken over')
    expect(said).toContain('service_type (POWER)')
  })

  it('names hosts that only one side knows: Lifeboat protects those of no segment too', () => {
    const said = notes([segment('a', [host('cmp01'), host('gone')])], {}, ['cmp01', 'cmp07'])
    expect(said).toContain('Nova has no nova-compute on gone')
    expect(said).toContain('Masakari does not protect cmp07. Lifeboat will')
  })
})

it('the cloud is looked for beside the configuration, as the daemon does', async () => {
  const clock = new VirtualClock()
  const simulator = await startSimulator({ clock, hosts: 1, port: null })
  const directory = mkdtempSync(join(tmpdir(), 'lb-'))
  try {
    const { region_name, ...auth } = simulator.cloud()
    writeFileSync(join(directory, 'clouds.yaml'), JSON.stringify({ clouds: { here: { auth, region_name } } }))
    const config = parseConfig('', join(directory, 'lifeboat.yaml'), {})
    const reading = readMasakari(config, { clock, env: {}, wire: simulator.wire() })
    await expect(clock.run(reading)).rejects.toMatchObject({ code: 'CATALOG_MISSING' })
  } finally {
    rmSync(directory, { recursive: true, force: true })
    await simulator.close()
  }
})

/** The ipmi probe: against ipmitool and OpenIPMI's simulated BMC where they are installed, and with what ipmitool wrote. */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ipmiProbe, powerIn } from '../../src/monitor/probes/ipmi.ts'
import { systemClock as clock } from '../fencing/setup.ts'

const password = 'p4ssw0rd-of-bmc'
const installed = (program: string): boolean => spawnSync('which', [program]).status === 0
const missing = ['ipmi_sim', 'ipmitool'].filter((program) => !installed(program))
const bare = { name: 'power', port: 623, username: 'lifeboat', password, interface: 'lanplus', cipherSuite: 3 } as const

function freeUdpPort(): Promise<number> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4')
    socket.bind(0, '127.0.0.1', () => {
      const { port } = socket.address()
      socket.close(() => resolve(port))
    })
  })
}

/** OpenIPMI's BMC on a free port, with a chassis whose power is in a file. */
class SimulatedBmc {
  readonly directory = mkdtempSync(join(tmpdir(), 'lifeboat-ipmi-'))
  port = 0
  #process: ChildProcess | undefined

  async start(): Promise<void> {
    this.port = await freeUdpPort()
    const file = (name: string, text: string): string => {
      writeFileSync(join(this.directory, name), text)
      return join(this.directory, name)
    }
    this.power = 'on'
    const chassis = file(
      'chassis',
      `#!/bin/sh\n[ "$2 $3" = "get power" ] && echo "power:$(cat ${this.directory}/power)" || echo "$3:0"\n`,
    )
    chmodSync(chassis, 0o755)
    const lan = file(
      'lan.conf',
      [
        'name "lifeboat"',
        'set_working_mc 0x20',
        'startlan 1',
        `  addr 127.0.0.1 ${this.port}`,
        '  priv_limit admin',
        ...['user', 'operator', 'admin'].map((level) => `  allowed_auths_${level} md5`),
        '  guid a123456789abcdefa123456789abcdef',
        'endlan',
        `chassis_control "${chassis} 0x20"`,
        `user 2 true "lifeboat" "${password}" user 10 md5`,
        '',
      ].join('\n'),
    )
    const bmc = file(
      'bmc.emu',
      'mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02\nmc_enable 0x20\n',
    )
    const argv = ['-c', lan, '-f', bmc, '-s', this.directory, '-n']
    this.#process = spawn('ipmi_sim', argv, { stdio: ['ignore', 'ignore', 'ignore'] })
  }

  set power(state: 'on' | 'off') {
    writeFileSync(join(this.directory, 'power'), state === 'on' ? '1' : '0')
  }

  stop(): void {
    this.#process?.kill('SIGKILL')
    rmSync(this.directory, { recursive: true, force: true })
  }
}

describe.skipIf(missing.length > 0)(
  `against a simulated BMC${missing.length > 0 ? `: SKIPPED, ${missing.join(' and ')} not found (apt install openipmi ipmitool)` : ''}`,
  () => {
    const bmc = new SimulatedBmc()
    const probe = (change: Partial<Parameters<typeof ipmiProbe>[0]> = {}) =>
      ipmiProbe({ ...bare, clock, port: bmc.port, limitMs: 10_000, address: () => '127.0.0.1', ...change })
    beforeAll(async () => {
      await bmc.start()
      // ipmitool asks again by itself until it is up.
      for (let n = 0; n < 3; n++) if ((await probe().read('cmp01')).power === 'on') return
    })
    afterAll(() => bmc.stop())

    it('on is unknown, off is dead', async () => {
      const on = { probe: 'power', kind: 'ipmi', answer: 'unknown', power: 'on', detail: '127.0.0.1: power reads on' }
      expect(await probe().read('cmp01')).toMatchObject(on)
      bmc.power = 'off'
      const off = { answer: 'dead', power: 'off', detail: '127.0.0.1: power reads off' }
      expect(await probe().read('cmp01')).toMatchObject(off)
    })

    it('a wrong password is unknown also while the power is off, and is nowhere in the reading', async () => {
      bmc.power = 'off'
      const reading = await probe({ password: 'another' }).read('cmp01')
      expect(reading).toMatchObject({
        answer: 'unknown',
        power: 'unknown',
        detail: '127.0.0.1: ipmitool, exit 1: Error: Unable to establish IPMI v2 / RMCP+ session',
      })
    })

    it('a BMC that does not answer is unknown when its time is over', async () => {
      const reading = await probe({ port: await freeUdpPort(), limitMs: 300 }).read('cmp01')
      expect(reading).toMatchObject({ answer: 'unknown', power: 'unknown' })
      expect(reading.detail).toContain('no end within 300 ms')
    })
  },
)

describe('what ipmitool wrote', () => {
  const end = (exit: number | null, ...lines: string[]) => powerIn({ exit, lines, output: lines.join(' ') })
  const hpm = 'Get HPM.x Capabilities request failed, compcode = d4'
  const slow = 'Unable to Get Channel Cipher Suites'
  const failed = 'Error: Unable to establish IPMI v2 / RMCP+ session'

  it.each([
    ['off', end(0, 'Chassis Power is off')],
    ['on', end(0, 'Chassis Power is on')],
    ['off', end(0, slow, hpm, 'Chassis Power is off')],
    ['unknown', end(1, 'Chassis Power is off')],
    ['unknown', end(null, 'Chassis Power is off')],
    ['unknown', end(0, hpm)],
    ['unknown', end(0)],
    ['unknown', end(0, 'Chassis Power is offline')],
    ['unknown', end(0, 'The Chassis Power is off')],
    ['unknown', end(0, 'Chassis Power Control: Down/Off')],
    ['unknown', end(0, 'Chassis Power is on', 'Chassis Power is off')],
  ] as const)('%s', (power, read) => expect(read.power).toBe(power))

  it.each([
    [end(1, slow, failed), `ipmitool, exit 1: ${failed}`],
    [
      end(1, 'Address lookup for no.invalid failed', 'Could not open socket!', failed, 'bye'),
      `ipmitool, exit 1: ${failed}`,
    ],
    [end(1, hpm), `ipmitool, exit 1: ${hpm}`],
    [end(2), 'ipmitool, exit 2: said nothing'],
    [powerIn({ exit: null, lines: [], output: 'no end within 5 ms' }), 'ipmitool, exit none: no end within 5 ms'],
  ])('the line that says why: %o', (read, detail) => expect(read.detail).toBe(detail))
})

describe('how ipmitool is called', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lifeboat-ipmitool-'))
  const program = join(directory, 'ipmitool')
  const told = join(directory, 'told')
  writeFileSync(
    program,
    `#!/bin/sh\necho "$@" > ${told}\nenv | grep '^IPMI' | sort >> ${told}\necho Chassis Power is off\n`,
  )
  chmodSync(program, 0o755)
  afterAll(() => rmSync(directory, { recursive: true }))
  const probe = (change: object) =>
    ipmiProbe({ ...bare, clock, limitMs: 10_000, program, address: () => '192.0.2.9', ...change })
  const called = (): string[] => readFileSync(told, 'utf8').trim().split('\n')

  it('with the privilege USER, and the password in its environment only', async () => {
    expect((await probe({}).read('cmp01')).answer).toBe('dead')
    expect(called()).toEqual([
      '-I lanplus -H 192.0.2.9 -p 623 -U lifeboat -E -L USER -C 3 chassis power status',
      `IPMITOOL_PASSWORD=${password}`,
      `IPMI_PASSWORD=${password}`,
    ])
  })

  it('without a cipher suite unless one is given', async () => {
    await probe({ cipherSuite: null, interface: 'lan', port: 1623 }).read('cmp01')
    expect(called()[0]).toBe('-I lan -H 192.0.2.9 -p 1623 -U lifeboat -E -L USER chassis power status')
  })

  it('not at all without an address, or with one that is an option', async () => {
    rmSync(told)
    for (const address of [undefined, '-h', 'a b']) {
      const reading = await probe({ address: () => address }).read('cmp01')
      expect(reading).toMatchObject({ answer: 'unknown', power: 'unknown' })
    }
    expect(() => execFileSync('cat', [told], { stdio: 'pipe' })).toThrow()
  })

  it('a missing ipmitool is unknown', async () => {
    const reading = await probe({ program: '/nowhere/ipmitool' }).read('cmp01')
    expect(reading).toMatchObject({ answer: 'unknown', power: 'unknown' })
    expect(reading.detail).toContain('ENOENT')
  })
})

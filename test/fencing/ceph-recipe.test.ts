/**
 * The shipped storage fence, as the command driver runs it, against programs that answer as Ceph 16 does: what they print was
 * taken from a real monitor and a real OSD.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import { runProgram } from '../../src/fencing/program.ts'
import { commandMethod } from '../../src/fencing/command.ts'
import { createFencer } from '../../src/fencing/fencer.ts'
import { systemClock as clock } from './setup.ts'

const recipe = fileURLToPath(new URL('../../config/recipes/ceph-blocklist', import.meta.url))

const cephText = `#!/bin/sh
echo "ceph $*" >> "$CEPH_DIR/calls"
[ "$1" = --connect-timeout ] && shift 2
[ -e "$CEPH_DIR/broken" ] && { echo 'Error EACCES: access denied' >&2; exit 13; }
case "$3" in
ls) cat "$CEPH_DIR/blocklist"; echo "listed $(wc -l < "$CEPH_DIR/blocklist") entries" >&2; exit 0 ;;
range) entry="cidr:\${5%/*}:0/\${5#*/}" seconds=$6 ;;
add) case $4 in *:*) entry="[$4]:0/0" ;; *) entry="$4:0/0" ;; esac; seconds=$5 ;;
*) echo 'Invalid command' >&2; exit 22 ;;
esac
until=$(date -u -d "+$seconds seconds" '+%Y-%m-%dT%H:%M:%S.995085+0000')
[ -e "$CEPH_DIR/lies" ] || {
  awk -v entry="$entry" '$1 != entry' "$CEPH_DIR/blocklist" > "$CEPH_DIR/others"
  { cat "$CEPH_DIR/others"; echo "$entry $until"; } > "$CEPH_DIR/blocklist"
}
echo "blocklisting $entry until $until ($seconds sec)" >&2
`
const rbdText = `#!/bin/sh
echo "rbd $*" >> "$CEPH_DIR/calls"
case "$1" in
ls) [ -d "$CEPH_DIR/pools/$2" ] || { echo "rbd: error opening pool '$2': (2) No such file or directory" >&2; exit 2; }; ls "$CEPH_DIR/pools/$2" ;;
status) cat "$CEPH_DIR/pools/$2" ;;
info) [ -e "$CEPH_DIR/pools/$2" ] || { echo "rbd: error opening image" >&2; exit 2; } ;;
esac
`
const nobody = 'Watchers: none\n'
const watcher = (address: string): string =>
  `Watchers:\n\twatcher=${address}/1718323118 client.4269 cookie=94854592000592\n`

let dir: string
let environment: Record<string, string>
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ceph-'))
  for (const [name, text] of [
    ['ceph', cephText],
    ['rbd', rbdText],
  ] as const) {
    writeFileSync(join(dir, name), text)
    chmodSync(join(dir, name), 0o755)
  }
  writeFileSync(join(dir, 'blocklist'), '')
  environment = { CEPH_DIR: dir, PATH: `${dir}${delimiter}${process.env['PATH'] ?? ''}` }
})

const calls = (): string[] => readFileSync(join(dir, 'calls'), 'utf8').trim().split('\n')
const run = (program: 'fence' | 'verify', ...args: string[]) => {
  const set = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  return runProgram({ argv: ['env', ...set, join(recipe, program), ...args], clock, limitMs: 60_000 })
}
function pool(name: string, images: Record<string, string>): void {
  mkdirSync(join(dir, 'pools', name), { recursive: true })
  for (const [image, text] of Object.entries(images)) writeFileSync(join(dir, 'pools', name, image), text)
}

describe('fence', () => {
  it('puts every address and range into the blocklist, for thirty days', async () => {
    expect((await run('fence', '192.0.2.11,2001:db8::11,192.0.2.32/30')).exit).toBe(0)
    expect(calls()).toEqual([
      'ceph --connect-timeout 10 osd blocklist add 192.0.2.11 2592000',
      'ceph --connect-timeout 10 osd blocklist add 2001:db8::11 2592000',
      'ceph --connect-timeout 10 osd blocklist range add 192.0.2.32/30 2592000',
    ])
    expect((await run('verify', '192.0.2.11,2001:db8::11,192.0.2.32/30')).exit).toBe(0)
  })

  it('fails when Ceph refuses one of them', async () => {
    writeFileSync(join(dir, 'broken'), '')
    expect(await run('fence', '192.0.2.11')).toMatchObject({ exit: 1, output: expect.stringContaining('did not take') })
  })

  it.each([
    '',
    'cmp01',
    '192.0.2.1;id',
    '$(id)',
    '--help',
    '1.2.3',
    '1.2.3.4.5',
    '10.0.0.0/8',
    '192.0.2.0/23',
    '192.0.2.0/33',
    '192.0.2.0/',
    '2001:db8::/63',
    '0.0.0.0',
    '127.0.0.1',
    '::1',
    '192.0.2.1,,192.0.2.2',
    ',192.0.2.1',
    '192.0.2.1 192.0.2.2',
  ])('asks Ceph nothing for %j', async (addresses) => {
    expect((await run('fence', addresses)).exit).toBe(2)
    expect((await run('verify', addresses)).exit).toBe(2)
    expect(() => calls()).toThrow('ENOENT')
  })

  it.each(['3600', '86399', 'x', '-1'])('takes no expiry of %s', async (expiry) => {
    expect((await run('fence', '192.0.2.11', expiry)).exit).toBe(2)
    expect(() => calls()).toThrow('ENOENT')
  })
})

describe('verify', () => {
  const list = (...lines: string[]): void =>
    writeFileSync(join(dir, 'blocklist'), lines.map((line) => `${line}\n`).join(''))
  const far = '2099-01-01T00:00:00.000000+0000'

  it('wants every address, exactly', async () => {
    list(`192.0.2.11:0/0 ${far}`, `192.0.2.12:0/2712345 ${far}`, `192.0.2.0:0/28 ${far}`)
    expect((await run('verify', '192.0.2.11')).exit).toBe(0)
    expect((await run('verify', '192.0.2.11,192.0.2.12')).exit).toBe(1)
    expect((await run('verify', '192.0.2.1')).exit).toBe(1)
    // "add" with a range makes an entry that blocks nobody.
    expect((await run('verify', '192.0.2.0/28')).exit).toBe(1)
    list(`cidr:192.0.2.0:0/28 ${far}`, `cidr:[2001:db8:1::]:0/64 ${far}`, `[2001:db8::11]:0/0 ${far}`)
    expect((await run('verify', '192.0.2.0/28,2001:db8:1::/64,2001:db8::11')).exit).toBe(0)
  })

  it('an entry that lapses within the hour is none; a time it does not understand is nothing known', async () => {
    const inMinutes = (minutes: number): string =>
      `${new Date(Date.now() + minutes * 60_000).toISOString().slice(0, 19)}.000000+0000`
    list(`192.0.2.11:0/0 ${inMinutes(59)}`)
    expect((await run('verify', '192.0.2.11')).exit).toBe(1)
    list(`192.0.2.11:0/0 ${inMinutes(62)}`)
    expect((await run('verify', '192.0.2.11')).exit).toBe(0)
    list('192.0.2.11:0/0 2099-01-01T00:00:00.000000+0200')
    expect((await run('verify', '192.0.2.11')).exit).toBe(2)
  })

  it('a blocklist that cannot be read is nothing known', async () => {
    writeFileSync(join(dir, 'broken'), '')
    expect((await run('verify', '192.0.2.11')).exit).toBe(2)
  })

  it('an image that is still open from there is no proof; from elsewhere it is none of ours', async () => {
    list(`192.0.2.11:0/0 ${far}`, `cidr:192.0.2.32:0/30 ${far}`, `cidr:[2001:db8:1::]:0/64 ${far}`)
    const all = '192.0.2.11,192.0.2.32/30,2001:db8:1::/64'
    const others = [
      '192.0.2.1:0',
      '192.0.2.111:0',
      '192.0.2.36:0',
      '192.0.2.31:0',
      '[2001:db8:2::5]:0',
      'v1:192.0.2.12:0',
    ]
    pool('volumes', { a: nobody, ...Object.fromEntries(others.map((from, at) => [`b${at}`, watcher(from)])) })
    expect(await run('verify', all, 'volumes')).toMatchObject({ exit: 0 })
    for (const from of [
      '192.0.2.11:0',
      'v2:192.0.2.11:0',
      '192.0.2.33:0',
      '[2001:db8:1::5]:0',
      '[2001:DB8:1:0::5]:0',
    ]) {
      pool('volumes', { z: watcher(from) })
      expect(await run('verify', all, 'volumes'), from).toMatchObject({ exit: 1 })
    }
  })

  it('a pool that cannot be listed is nothing known', async () => {
    list(`192.0.2.11:0/0 ${far}`)
    expect((await run('verify', '192.0.2.11', 'none')).exit).toBe(2)
    expect((await run('verify', '192.0.2.11', '-p')).exit).toBe(2)
  })
})

describe('as a fencing method', () => {
  /** @param limitMs what a proof may take: a refusal waits for it whole, and two looks of a busy machine take longer than a refusal should */
  const fencer = (variables: Record<string, string>, limitMs = 600) => {
    const set = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
    const ceph = commandMethod({
      name: 'ceph',
      clock,
      fence: ['env', ...set, join(recipe, 'fence'), '{storage}'],
      verifyCommand: ['env', ...set, join(recipe, 'verify'), '{storage}', 'volumes'],
      variables: () => variables,
      verify: { pauseMs: 10, limitMs },
      runLimitMs: 30_000,
      proves: 'storage',
      renewEveryMs: 3_600_000,
    })
    return createFencer({ clock, observer: {}, methods: new Map([['ceph', ceph]]) })
  }

  it('proves the storage gone, and renews it when the proof is restored', async () => {
    pool('volumes', { a: nobody })
    const it = fencer({ storage: '192.0.2.11' }, 30_000)
    const proof = await it.fence('h1', ['ceph'], () => undefined)
    expect(proof).toMatchObject({ strength: 'command-verified', proves: 'storage', method: 'ceph' })
    const added = (): number => calls().filter((call) => call.includes(' add ')).length
    expect(added()).toBe(1)
    it.verify(await it.restore({ ...proof, evidence: [...proof.evidence] }), 'h1')
    expect(added()).toBe(2)
  })

  it('is no proof when Ceph says yes and does nothing', async () => {
    writeFileSync(join(dir, 'lies'), '')
    pool('volumes', { a: nobody })
    const attempt = createAttempt(fencer({ storage: '192.0.2.11' }))
    await expect(attempt).rejects.toMatchObject({ code: 'FENCE_UNVERIFIED' })
  })

  it('does not cover a host whose storage addresses nobody wrote down', async () => {
    await expect(createAttempt(fencer({ bmc: '192.0.2.111' }))).rejects.toMatchObject({ code: 'FENCING_MISSING' })
  })
})

function createAttempt(fencer: ReturnType<typeof createFencer>): Promise<unknown> {
  return fencer.fence('h1', ['ceph'], () => undefined)
}

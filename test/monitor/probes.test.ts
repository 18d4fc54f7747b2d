import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Probe } from '../../src/domain/verdict.ts'
import { answerMarginMs, probeRound } from '../../src/monitor/probe-round.ts'
import { commandProbe } from '../../src/monitor/probes/command.ts'
import { pingProbe } from '../../src/monitor/probes/ping.ts'
import { tcpProbe } from '../../src/monitor/probes/tcp.ts'
import { systemClock as clock } from '../fencing/setup.ts'
import { HandClock } from './setup.ts'

const to = (address?: string) => () => address
const answer = async (probe: Probe, host = 'h') => (await probe.read(host)).answer

describe('tcp', () => {
  const tcp = (address: string | undefined, port: number) =>
    tcpProbe({ name: 'ssh', clock, limitMs: 300, port, address: to(address) })

  it('accepted and refused are both alive', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    expect(await answer(tcp('127.0.0.1', port))).toBe('alive')
    await new Promise((resolve) => server.close(resolve))
    expect(await answer(tcp('127.0.0.1', port))).toBe('alive')
  })

  it('a name that does not resolve, no address, and an option are unknown', async () => {
    expect(await answer(tcp('no-such-host.invalid', 22))).toBe('unknown')
    expect(await answer(tcp(undefined, 22))).toBe('unknown')
    expect(await answer(tcp('-oProxyCommand=x', 22))).toBe('unknown')
  })

  it('an answer that came while we ourselves stood still counts, however late we look', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const probe = tcpProbe({ name: 'ssh', clock, limitMs: 20, port, address: to('127.0.0.1') })
    const reading = probeRound([{ host: 'h', probes: [probe] }], { clock, limitMs: 20, atOnce: 1 })
    // Nothing of this process runs for longer than the limit, as when it is stopped or its machine is busy.
    const end = performance.now() + 100
    while (performance.now() < end);
    expect((await reading).get('h')?.[0]).toMatchObject({ answer: 'alive' })
    await new Promise((resolve) => server.close(resolve))
  })

  it('a host that says nothing is dead, also when the round waits no longer than the probe', async () => {
    const hand = new HandClock()
    const probe = tcpProbe({ name: 'ssh', clock: hand, limitMs: 1_000, port: 9, address: to('127.0.0.1') })
    // The clock moves before the connection's answer can be read: to the probe that is a host that says nothing.
    const reading = probeRound([{ host: 'h', probes: [probe] }], { clock: hand, limitMs: 1_000, atOnce: 1 })
    hand.advance(1_000)
    hand.advance(1)
    expect((await reading).get('h')?.[0]).toMatchObject({ answer: 'dead' })
  })

  it('a name that does not resolve in time is unknown: nobody has asked the host', async () => {
    const hand = new HandClock()
    const probe = tcpProbe({ name: 'ssh', clock: hand, limitMs: 1_000, port: 9, address: to('localhost') })
    const reading = probe.read('h', new AbortController().signal)
    hand.advance(1_000)
    hand.advance(1)
    expect(await reading).toMatchObject({ answer: 'unknown', detail: expect.stringContaining('did not resolve') })
  })

  it('an aborted round says nothing about the host', async () => {
    const reading = await tcp('127.0.0.1', 22).read('h', AbortSignal.abort())
    expect(reading.answer).toBe('unknown')
  })
})

describe('programs', () => {
  /** What a program says is wanted, however long a busy machine takes to start it. */
  const limitMs = 20_000
  /** Of a host that has the variable `mgmt`, and no other. */
  const command = (...argv: string[]) => {
    const argvOf = (host: string) =>
      argv.join('').includes('{bmc}')
        ? undefined
        : argv.map((part) => part.replaceAll('{host}', host).replaceAll('{mgmt}', '-n'))
    return commandProbe({ name: 'own', argv, argvOf, limitMs, clock })
  }

  it.each([
    [['true'], 'alive'],
    [['false'], 'dead'],
    [['sh', '-c', 'exit 2'], 'unknown'],
    [['/nowhere/program'], 'unknown'],
    [[], 'unknown'],
  ])('%j is %s', async (argv, expected) => {
    expect(await answer(command(...argv))).toBe(expected)
  })

  it('too slow is unknown, and is killed', async () => {
    const argv = ['sleep', '30']
    const slow = commandProbe({ name: 'own', argv, argvOf: () => argv, limitMs: 50, clock })
    expect(await slow.read('h')).toMatchObject({ answer: 'unknown', detail: 'exit none: no end within 50 ms' })
  })

  it('see the host as a whole argument, and no shell', async () => {
    expect((await command('echo', '{host};id').read('cmp01')).detail).toBe('exit 0: cmp01;id')
    expect(await answer(command('echo', '{host}'), '-x')).toBe('unknown')
  })

  it('are not asked of a host that lacks a variable, nor with a variable that would be an option', async () => {
    expect(await answer(command('false', '{bmc}'))).toBe('unknown')
    expect(await answer(command('false', '{mgmt}'))).toBe('unknown')
    expect(await answer(command('false', '-n'))).toBe('dead')
  })

  it.each([
    [0, 'alive'],
    [1, 'dead'],
    [2, 'unknown'],
  ])('ping with exit %i is %s', async (exit, expected) => {
    const program = join(mkdtempSync(join(tmpdir(), 'ping-')), 'ping')
    writeFileSync(program, `#!/bin/sh\nexit ${exit}\n`, { mode: 0o755 })
    expect(await answer(pingProbe({ name: 'ping', clock, limitMs, address: to('127.0.0.1'), program }))).toBe(expected)
  })

  const answered = [
    'PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.',
    '64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.257 ms',
    '',
    '--- 192.0.2.1 ping statistics ---',
    '1 packets transmitted, 1 received, 0% packet loss, time 0ms',
  ]
  const silent = ['PING 192.0.2.1(192.0.2.1) 56 data bytes', '', '--- 192.0.2.1 ping statistics ---', '1 packets …']
  const nobody = [
    'PING a (192.0.2.1) 56(84) bytes of data.',
    'From 192.0.2.254 icmp_seq=1 Destination Host Unreachable',
  ]
  /** Ping that ends so, having said that. */
  function ended(exit: number, lines: readonly string[]): Probe {
    const directory = mkdtempSync(join(tmpdir(), 'ping-'))
    const program = join(directory, 'ping')
    writeFileSync(join(directory, 'said'), lines.join('\n'))
    writeFileSync(program, `#!/bin/sh\ncat ${directory}/said\nexit ${exit}\n`, { mode: 0o755 })
    return pingProbe({ name: 'ping', clock, limitMs, address: to('192.0.2.1'), program })
  }

  it.each([
    ['ping: sendmsg: Operation not permitted', 'unknown'],
    ['From 192.0.2.1 icmp_seq=1 Destination Host Prohibited', 'unknown'],
    ['From 192.0.2.254 icmp_seq=1 Packet filtered', 'unknown'],
    ['From 192.0.2.254 icmp_seq=1 Destination Net Unreachable', 'unknown'],
    ['From 192.0.2.254 icmp_seq=1 Time to live exceeded', 'unknown'],
    ['From 2001:db8::1 icmp_seq=1 Time exceeded: Hop limit', 'unknown'],
    ['From 2001:db8::1 icmp_seq=1 Destination unreachable: No route', 'unknown'],
    ['From 192.0.2.254 icmp_seq=1 Destination Host Unreachable', 'dead'],
  ])('ping that ends with 1 and says %j is %s', async (line, expected) => {
    expect(await answer(ended(1, [...silent.slice(0, 1), line]))).toBe(expected)
  })

  it.each([
    [0, answered, 'answered in 0.257 ms'],
    [0, ['odd'], 'answered'],
    [1, silent, 'no answer within 19.5 s'],
    [1, nobody, 'From 192.0.2.254 icmp_seq=1 Destination Host Unreachable'],
    [2, ['ping: cmp.invalid: Name or service not known'], 'ping: cmp.invalid: Name or service not known'],
    [2, [...silent.slice(0, 1), 'ping: sendmsg: Network is unreachable'], 'ping: sendmsg: Network is unreachable'],
    [2, [], 'ping failed without a word'],
  ])('the reading of ping with exit %i is one line of %j', async (exit, lines, detail) => {
    expect((await ended(exit, lines).read('h')).detail).toBe(`192.0.2.1: ${detail}`)
  })

  it('a missing ping and an address that is an option are unknown', async () => {
    expect(
      await answer(pingProbe({ name: 'p', clock, limitMs: 500, address: to('127.0.0.1'), program: '/nowhere/ping' })),
    ).toBe('unknown')
    expect(await answer(pingProbe({ name: 'p', clock, limitMs: 500, address: to('-f') }))).toBe('unknown')
  })
})

describe('a round of probes', () => {
  const named = (name: string, read: Probe['read']): Probe => ({ name, kind: 'command', read })

  it('turns a probe that throws, or never answers, into unknown, and is over in its time', async () => {
    const hand = new HandClock()
    const probes = [
      named('throws', () => Promise.reject(new Error('broken'))),
      named('throws at once', () => {
        throw new Error('broken')
      }),
      named('hangs', () => new Promise(() => undefined)),
    ]
    const round = probeRound([{ host: 'h', probes }], { clock: hand, limitMs: 1_000, atOnce: 8 })
    await new Promise(setImmediate)
    hand.advance(1_000 + answerMarginMs)
    const readings = (await round).get('h') ?? []
    expect(readings.map((one) => [one.probe, one.answer]).sort()).toEqual([
      ['hangs', 'unknown'],
      ['throws at once', 'unknown'],
      ['throws', 'unknown'],
    ])
  })

  it('of many hosts is no leak of listeners', async () => {
    const warnings: string[] = []
    const warned = (warning: Error): void => void warnings.push(warning.name)
    process.on('warning', warned)
    const slow = named(
      'slow',
      (_host, signal) => new Promise((_resolve, reject) => signal?.addEventListener('abort', reject)),
    )
    const hand = new HandClock()
    const orders = Array.from({ length: 30 }, (_, n) => ({ host: `h${n}`, probes: [slow] }))
    const round = probeRound(orders, { clock: hand, limitMs: 1_000, atOnce: 64 })
    await new Promise(setImmediate)
    hand.advance(1_000 + answerMarginMs)
    await round
    await new Promise(setImmediate)
    process.off('warning', warned)
    expect(warnings).toEqual([])
  })

  it('runs no more at once than allowed', async () => {
    let running = 0
    let most = 0
    const probe = named('one', async (host) => {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
      return { probe: 'one', kind: 'command', answer: 'alive', detail: host, at: '' }
    })
    const orders = Array.from({ length: 20 }, (_unused, index) => ({ host: `h${index}`, probes: [probe] }))
    const readings = await probeRound(orders, { clock: new HandClock(), limitMs: 1_000, atOnce: 4 })
    expect(most).toBe(4)
    expect([...readings.values()].every(([reading]) => reading?.answer === 'alive')).toBe(true)
  })
})

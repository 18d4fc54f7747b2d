import { describe, expect, it } from 'vitest'
import { configSchemaText, loadConfig, loadConfiguration, segmentOf } from '../../src/config/index.ts'
import { configJsonSchema, type JsonSchema } from '../../src/config/json-schema.ts'
import { detectionAdvice } from '../../src/config/detection-advice.ts'
import { parse, shipped, textOf } from './configurations.ts'

/** Every option's path, e.g. monitor.poll_interval; kinds and user-given names are left out of it. */
function optionPaths(schema: JsonSchema, path: string[] = []): string[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => [
    [...path, key].join('.'),
    ...optionPaths(inner, [...path, key]),
  ])
  const inside = [schema.additionalProperties, schema.items, ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])]
  return [...own, ...inside.flatMap((inner) => (typeof inner === 'object' ? optionPaths(inner, path) : []))]
}

describe('config/lifeboat.schema.json', () => {
  it('is what the loader accepts (npm run generate)', () => {
    expect(textOf(shipped('lifeboat.schema.json'))).toBe(configSchemaText())
  })
})

describe('config/lifeboat.example.yaml', () => {
  const text = textOf(shipped('lifeboat.example.yaml'))
  const config = loadConfig(shipped('lifeboat.example.yaml'), {
    ...{ BMC_PASSWORD: 'x', PROMETHEUS_TOKEN: 'x', NOTICE_SECRET: 'x'.repeat(16) },
    ...{ CHAT_WEBHOOK_URL: 'https://chat.example.org/hooks/x', ALERTMANAGER_PASSWORD: 'x' },
    LIFEBOAT_JOURNAL_PASSWORD: 'x',
  })

  it('loads', () => expect(config.path).toBe(shipped('lifeboat.example.yaml')))

  it('shows every option that there is', () => {
    const missing = [...new Set(optionPaths(configJsonSchema()))].filter(
      (path) => !new RegExp(`\\b${path.split('.').at(-1)}:`).test(text),
    )
    expect(missing).toEqual([])
  })

  it('shows the true defaults', () => {
    const {
      api,
      monitor,
      brake,
      executor,
      fenceRetryMs,
      ownerPolicy,
      defaults,
      http,
      logLevel,
      logFormat,
      mode,
      notices,
    } = parse('')
    const { freezeDelayMs, giveUpAfterMs, queueLimit, maxInstances } = notices
    const sameMonitor = { ...monitor, probeLimitMs: config.monitor.probeLimitMs }
    expect(config).toMatchObject({
      api,
      monitor: sameMonitor,
      brake: { ...brake, failureDomain: config.brake.failureDomain },
      executor,
      fenceRetryMs,
      ownerPolicy,
      defaults,
      http,
      logLevel,
      logFormat,
      mode,
      notices: { freezeDelayMs, giveUpAfterMs, queueLimit, maxInstances },
    })
  })
})

describe('what the README tells someone who begins', () => {
  const readme = textOf(shipped('../README.md'))

  it('names each variable that the example needs', () => {
    const needed = [...textOf(shipped('lifeboat.example.yaml')).matchAll(/^ *\w+_env: (\w+)/gm)].map(([, name]) => name)
    expect(needed.length).toBeGreaterThan(3)
    for (const name of needed) expect(readme).toContain(`\`${name}\``)
  })

  it('the minimal configuration needs the variable that is exported there and no other, and loads without a warning', () => {
    const minimal = shipped('lifeboat.minimal.yaml')
    expect(readme).toContain('cp config/lifeboat.minimal.yaml lifeboat.yaml')
    expect(readme).toMatch(/^ +export BMC_PASSWORD=/m)
    const { config, warnings } = loadConfiguration(minimal, { BMC_PASSWORD: 'x' })
    expect(warnings).toEqual([])
    expect(config).toMatchObject({ mode: 'observe', stateDir: shipped('lifeboat-state') })
    expect(segmentOf(config)('any', 'nova', [])).toMatchObject({ name: 'all', fencing: ['bmc'], storage: 'local' })
    expect(detectionAdvice(config)).toEqual([])
  })
})

describe('what a reload changes', () => {
  /** Read at the start alone. An option that is added is one of these until a reload really changes it. */
  const atTheStart = ['cloud', 'state_dir', 'shared_journal', 'socket', 'http']
  const partly = { web: ['listen', 'tls', 'insecure_plaintext', 'trusted_proxies'], log: ['format'] }

  const marksOf = (option: JsonSchema): string[] => [
    ...(option['x-lifeboat-reload'] === undefined ? [] : [option['x-lifeboat-reload']]),
    ...Object.values(option.properties ?? {}).flatMap(marksOf),
  ]
  const waiting = (options: Record<string, JsonSchema> | undefined): string[] =>
    Object.entries(options ?? {}).flatMap(([key, option]) => (marksOf(option).includes('live') ? [] : [key]))

  it('is said of every option in the schema, and of those that need a restart in the example too', () => {
    const { properties = {} } = configJsonSchema()
    expect(Object.entries(properties).filter(([, option]) => marksOf(option).length === 0)).toEqual([])
    expect(waiting(properties)).toEqual(atTheStart)
    const text = textOf(shipped('lifeboat.example.yaml'))
    for (const key of atTheStart)
      expect(text, key).toMatch(new RegExp(`^# Needs a restart\\.[^\n]*\n(#[^\n]*\n)*${key}:`, 'm'))
    for (const [section, keys] of Object.entries(partly)) {
      expect(waiting(properties[section]?.properties)).toEqual(keys)
      for (const key of keys)
        expect(text, `${section}.${key}`).toMatch(
          new RegExp(`^${section}:\n( .*\n)*  # Needs a restart\\.[^\n]*\n(  #[^\n]*\n)*  ${key}:`, 'm'),
        )
    }
  })
})

describe('config/lab.yaml', () => {
  it('recovers two of four hosts and holds the third', () => {
    const config = loadConfig(shipped('lab.yaml'), {})
    const segment = segmentOf(config)('cmp03', 'nova', [])
    expect(config.mode).toBe('armed')
    expect(segment).toMatchObject({ name: 'lab', storage: 'shared', brake: { maxHosts: 2, maxShare: 0.5 } })
    expect(config.brake).toMatchObject({ maxHosts: 2, maxShare: 0.5, failureDomain: null, coolDownMs: 0 })
  })
})

describe('config/lifeboat.yaml, which the package installs', () => {
  const config = loadConfig(shipped('lifeboat.yaml'), {})

  it('observes', () => expect(config.mode).toBe('observe'))

  it('keeps state and socket where the unit makes their directories', () => {
    const unit = textOf(shipped('../systemd/lifeboat.service'))
    expect([config.stateDir, config.socket]).toEqual(['/var/lib/lifeboat', '/run/lifeboat/lifeboat.sock'])
    expect(unit).toMatch(/^StateDirectory=lifeboat$/m)
    expect(unit).toMatch(/^RuntimeDirectory=lifeboat$/m)
  })
})

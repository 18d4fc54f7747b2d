/** lifeboat.yaml(5), from the schema that the loader itself uses: no option can be missing, and no default can be wrong. */
import { durationHelp, durationPattern } from '../../formats/duration.ts'
import { bold, literal, page, plain, sentence, term } from './scdoc.ts'

/** The part of JSON Schema that the configuration is described with. */
export interface OptionSchema {
  type?: string | string[]
  description?: string
  default?: unknown
  const?: unknown
  enum?: unknown[]
  pattern?: string
  minimum?: number
  exclusiveMinimum?: number
  maximum?: number
  properties?: Record<string, OptionSchema>
  required?: string[]
  additionalProperties?: OptionSchema | boolean
  items?: OptionSchema
  oneOf?: OptionSchema[]
  anyOf?: OptionSchema[]
}

/** What a key that the user chooses is called in a path. */
const userKeys: Record<string, string> = { hosts: 'HOST', probes: 'NAME', fencing: 'NAME' }

const example = `mode: observe
state_dir: /var/lib/lifeboat
hosts:
  cmp01: { address: 192.0.2.11, bmc: 192.0.2.111 }
probes:
  ssh: { kind: tcp, address: '{address}', port: 22 }
  ping: { kind: ping, address: '{address}' }
fencing:
  bmc:
    kind: redfish
    system: https://{bmc}/redfish/v1/Systems/1
    username: lifeboat
    password_file: bmc-password
segments:
  - name: ceph-backed
    match: { aggregates: [ceph] }
    storage: shared
    fencing: [bmc]
    probes: [ssh, ping]
`

export function configPage(schema: OptionSchema): string {
  const sections = Object.entries(schema.properties ?? {})
  const single = sections.filter(([, part]) => !isSection(part))
  const grouped = sections.filter(([, part]) => isSection(part))
  const shared = new Set(Object.keys(schema.properties?.['defaults']?.properties ?? {}))
  return page('lifeboat.yaml', 5, [
    ['NAME', 'lifeboat.yaml - configuration of Lifeboat'],
    ['SYNOPSIS', '_/etc/lifeboat/lifeboat.yaml_'],
    [
      'DESCRIPTION',
      [
        'YAML. A key that is not known, a name that is not defined or a value out of range stops the start; *lifeboat check* says where, without side effects. Relative paths are relative to the file.',
        `A duration is ${plain(durationHelp)}.`,
        'A template is a text with {name} in it: the variable _name_ of the host, from *hosts*. {host} is always there; {{ and }} are the braces themselves.',
      ].join('\n\n'),
    ],
    ['GENERAL OPTIONS', single.flatMap(([key, part]) => described(key, part, false)).join('\n')],
    ...grouped.map(([key, part]): [string, string] => [
      `${key.toUpperCase().replaceAll('_', ' ')} OPTIONS`,
      [
        part.description === undefined ? '' : sentence(part.description),
        ...(key === 'segments' ? ['Beside these, a segment takes every option of *defaults*.'] : []),
        inside(key, part, key === 'segments' ? shared : new Set()).join('\n'),
      ]
        .filter((text) => text !== '')
        .join('\n\n'),
    ]),
    ['EXAMPLE', literal(example)],
    [
      'FILES',
      [
        term(
          '_/usr/share/doc/lifeboat/examples/lifeboat.example.yaml_',
          'Every option with its default, and what breaks when it is wrong.',
        ),
        term('_/usr/share/doc/lifeboat/examples/lifeboat.minimal.yaml_', 'The least that protects a cloud.'),
        term('_/usr/share/lifeboat/lifeboat.schema.json_', 'The same as JSON Schema, for editors.'),
      ].join('\n'),
    ],
    ['SEE ALSO', '*lifeboat*(1), *lifeboat*(8), *lifeboat-workflow*(5)'],
  ])
}

function isSection({ properties, items, additionalProperties }: OptionSchema): boolean {
  return properties !== undefined || items?.properties !== undefined || typeof additionalProperties === 'object'
}

/** The options below `path`. */
function inside(path: string, part: OptionSchema, leftOut: ReadonlySet<string> = new Set()): string[] {
  const own = Object.entries(part.properties ?? {})
    .filter(([key]) => !leftOut.has(key))
    .flatMap(([key, inner]) => described(`${path}.${key}`, inner, part.required?.includes(key) ?? false))
  const items = part.items?.properties === undefined ? [] : inside(`${path}[]`, part.items, leftOut)
  const map = part.additionalProperties
  const named = typeof map === 'object' ? ofMap(`${path}.${userKeys[path] ?? 'NAME'}`, map) : []
  return [...own, ...items, ...named]
}

function ofMap(path: string, value: OptionSchema): string[] {
  const kinds = value.oneOf ?? []
  if (kinds.length > 0)
    return kinds.map((kind) => {
      const name = String(kind.properties?.['kind']?.const)
      return `## ${path}, kind: ${name}\n\n${inside(path, kind, new Set(['kind'])).join('\n')}`
    })
  return typeof value.additionalProperties === 'object' && value.properties === undefined
    ? [term(bold(`${path}.VARIABLE`), `${typeText(value.additionalProperties)}.`)]
    : inside(path, value)
}

function described(path: string, part: OptionSchema, required: boolean): string[] {
  if (isSection(part)) {
    const intro = part.description === undefined ? [] : [term(bold(path), sentence(part.description))]
    return [...intro, ...inside(path, part)]
  }
  const facts = [`${typeText(part)}.`, ...(required ? ['Required.'] : []), ...defaultText(part)].join(' ')
  const what = part.description === undefined ? [] : [sentence(part.description)]
  return [term(bold(path), facts, ...what)]
}

function defaultText(part: OptionSchema): string[] {
  const value = part.default
  if (value === undefined) return []
  return [`Default: ${plain(valueText(value))}.`]
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function typeText(part: OptionSchema): string {
  const choices = part.anyOf ?? part.oneOf
  if (choices !== undefined) return choices.map(typeText).join(', or ')
  if (part.const !== undefined) return plain(valueText(part.const))
  if (part.enum !== undefined) return part.enum.map((value) => plain(String(value))).join(' | ')
  if (part.pattern === durationPattern.source) return 'Duration'
  if (part.type === 'array') return `List of ${part.items === undefined ? 'values' : plural(part.items)}`
  if (Array.isArray(part.type)) return sentenceCase(part.type.join(' or '))
  if (part.type === 'boolean') return 'true | false'
  if (part.type === 'integer') return `Whole number${rangeText(part)}`
  if (part.type === 'number') return `Number${rangeText(part)}`
  return part.type === 'string' ? 'Text' : sentenceCase(part.type ?? 'any value')
}

function plural(items: OptionSchema): string {
  const text = typeText(items)
  return { Text: 'texts', Number: 'numbers' }[text] ?? text
}

function rangeText({ minimum, exclusiveMinimum, maximum }: OptionSchema): string {
  const least = exclusiveMinimum === undefined ? minimum : `above ${exclusiveMinimum}`
  const most = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum
  if (least === undefined || least === -Number.MAX_SAFE_INTEGER) return ''
  return most === undefined ? `, ${least} or more` : `, ${least} to ${most}`
}

function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

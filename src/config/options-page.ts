/** The text of docs/reference/configuration.md: every option with its default and whether a reload changes it. Made from the schema. */
import { configJsonSchema, reloadMark, type JsonSchema } from './json-schema.ts'

export function optionsPage(): string {
  const rows = optionRows(configJsonSchema(), '')
  const intro = `Made from the schema that the loader itself uses. \`NAME\` is a name of yours; \`[]\` is a member of a list; an option of one
kind of probe or fencing method only has the kind before it. **live**: a reload changes it in the running daemon;
**restart**: it is read at the start alone, and a reload says that it waits (docs/reload.md). \`config/lifeboat.example.yaml\`
has them all with their meaning at length, and \`lifeboat config show --origins\` says what holds and why.`
  return `# Options of the configuration\n\n${intro}\n\n| Option | Default | Reload | Meaning |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`
}

function optionRows(schema: JsonSchema, name: string): string[] {
  const kinds = (schema.oneOf ?? schema.anyOf ?? []).filter(({ properties }) => properties?.['kind'] !== undefined)
  if (kinds.length > 0)
    return kinds.flatMap((kind) =>
      optionRows(kind, `${name}${name === '' ? '' : ' '}(${String(kind.properties?.['kind']?.const)})`).filter(
        (row) => !row.includes(').kind`'),
      ),
    )
  const rows: string[] = []
  for (const [key, option] of Object.entries(schema.properties ?? {})) {
    const own = name === '' ? key : `${name}.${key}`
    const inner = insideOf(option, own)
    rows.push(...(inner.length > 0 ? inner : [rowOf(own, option)]))
  }
  return rows
}

function insideOf(option: JsonSchema, name: string): string[] {
  const { properties, additionalProperties: named, items } = option
  if (properties !== undefined) return optionRows(option, name)
  if (typeof named === 'object') return optionRows(named, `${name}.NAME`)
  return items === undefined ? [] : optionRows(items, `${name}[]`)
}

function rowOf(name: string, option: JsonSchema): string {
  const { default: value, description = '' } = option
  const shown = value === undefined ? '' : `\`${JSON.stringify(value)}\``
  const allowed = option.enum === undefined ? '' : ` (${option.enum.map(String).join(', ')})`
  const cell = (text: string): string => text.replaceAll('|', '\\|')
  return `| \`${name}\` | ${cell(shown)} | ${reloadMark(option) ?? 'restart'} | ${cell(`${description}${allowed}`)} |`
}

/** The commands of Masakari's client in an order in which each has something to show, and which columns each prints. */
import { until } from './daemon-process.ts'
import type { OpenstackClient, Row } from './openstack-client.ts'

/** What each command prints: the names of its columns, in their order; of one that has no columns its sentence. */
export type Columns = Record<string, string>

/** Every command, in `version`, that needs no failure. They leave nothing behind but a notification. `host` must be in no segment. */
export async function everyCommand(client: OpenstackClient, version: string, host: string): Promise<Columns> {
  const at = new Printed(client, version)
  const name = `rack ${version}`
  const { uuid } = await at.one('segment', 'create', name, 'auto', 'COMPUTE', '--description', 'Row 1')
  await at.many('segment', 'list')
  await at.one('segment', 'show', name)
  await at.one('segment', 'update', name, '--recovery_method', 'reserved_host', '--description', 'Row 2')
  await at.one('segment', 'host', 'create', host, 'COMPUTE', 'SSH', name)
  await at.many('segment', 'host', 'list', String(uuid))
  await at.one('segment', 'host', 'show', name, host)
  await at.one('segment', 'host', 'update', name, host, '--reserved', 'True', '--on_maintenance', 'True')
  // While a host is on maintenance, reports of it are refused.
  await client.one(version, 'segment', 'host', 'update', name, host, '--on_maintenance', 'False')
  const payload = '{"event": "STARTED", "process_name": "nova-compute"}'
  const sent = await at.one('notification', 'create', 'PROCESS', host, new Date().toISOString(), payload)
  const id = String(sent['notification_uuid'])
  await finished(client, version, id)
  await at.many('notification', 'list')
  await at.one('notification', 'show', id)
  await at.sentence('segment', 'host', 'delete', name, host)
  await at.sentence('segment', 'delete', name)
  return at.columns
}

/** The commands that show what became of the instances of a dead host, once its notification is finished. */
export async function failureCommands(
  client: OpenstackClient,
  version: string,
  notification: string,
): Promise<Columns> {
  const at = new Printed(client, version)
  await finished(client, version, notification)
  await at.one('notification', 'show', notification)
  const [move] = await at.many('notification', 'vmove', 'list', notification)
  await at.one('notification', 'vmove', 'show', notification, String(move?.['uuid']))
  return at.columns
}

async function finished(client: OpenstackClient, version: string, notification: string): Promise<void> {
  await until('the notification is finished', async () => {
    const { status } = await client.one(version, 'notification', 'show', notification)
    if (status === 'error' || status === 'failed') throw new Error(`the notification is ${status}`)
    return status === 'finished'
  })
}

/** Runs commands in one version, and keeps what each printed under its name. */
class Printed {
  readonly columns: Columns = {}
  readonly #client: OpenstackClient
  readonly #version: string

  constructor(client: OpenstackClient, version: string) {
    this.#client = client
    this.#version = version
  }

  async one(...words: string[]): Promise<Row> {
    const row = await this.#client.one(this.#version, ...words)
    this.columns[commandOf(words)] = shown(row)
    return row
  }

  async many(...words: string[]): Promise<Row[]> {
    const rows = await this.#client.many(this.#version, ...words)
    this.columns[commandOf(words)] = shown(rows[0] ?? {})
    return rows
  }

  async sentence(...words: string[]): Promise<void> {
    this.columns[commandOf(words)] = (await this.#client.order(this.#version, ...words)).trim()
  }
}

function commandOf(words: string[]): string {
  const verb = words.findIndex((word) => ['create', 'list', 'show', 'update', 'delete'].includes(word))
  return words.slice(0, verb + 1).join(' ')
}

/** Says which columns are empty. Of `updated_at` it does not: whether something has changed by now is a matter of moments. */
function shown(row: Row): string {
  const isEmpty = (column: string): boolean =>
    column !== 'updated_at' && ['null', '""', '[]'].includes(JSON.stringify(row[column]))
  return Object.keys(row)
    .map((column) => (isEmpty(column) ? `${column} (empty)` : column))
    .join(', ')
}

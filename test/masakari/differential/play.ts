/** Plays the requests against whoever serves them, and keeps of each answer what is compared: status, fault, fields, rows and headers. */
import { requests, type Asked } from './requests.ts'

/** What is compared. Masakari's words are its own: no client reads them. */
export interface Answered {
  status: number
  /** The name of the fault; of another refusal its first field. */
  fault?: string
  /** Of the object, or of each object of the list. */
  fields?: string[]
  /** How many objects the list has. */
  rows?: number
  /** Its headers that say what it is. */
  head: Head
}

export interface Head {
  /** Content-Type. */
  type?: string
  /** OpenStack-API-Version. */
  version?: string
  /** Whether it varies by that. */
  vary?: true
  /** Whether there is an x-openstack-request-id: each answer has another. */
  requestId?: true
  /** Whether there is a WWW-Authenticate. */
  tokensAt?: true
}

export interface Sent extends Omit<Asked, 'name' | 'keep'> {
  /** With its body as bytes. */
  content: string | Buffer | undefined
  type: string | undefined
}

/** Sends one request; `body` is what came back, null when it is no JSON; `header` gives a header by its name. */
export type Send = (sent: Sent) => Promise<{ status: number; body: unknown; header: Header }>

type Header = (name: string) => string | null | undefined

type Known = Map<string, { uuid: string; id: number }>

/** The answer to each request by its name. @param project of the admin's token */
export async function played(send: Send, project: string): Promise<Record<string, Answered>> {
  const known: Known = new Map()
  const answers: Record<string, Answered> = {}
  for (const { name, keep, ...asked } of requests) {
    const path = asked.path.replace(/\{([^}]+)\}/g, (_all, key: string) => placed(key, known, project))
    const content = asked.raw?.content ?? (asked.body === undefined ? undefined : JSON.stringify(asked.body))
    const type = asked.raw?.type ?? (asked.body === undefined ? undefined : 'application/json')
    const { status, body, header } = await send({ ...asked, path, content, type })
    answers[name] = { ...compared(status, body), head: headOf(header) }
    if (keep !== undefined) known.set(keep, kept(body))
  }
  return answers
}

function placed(key: string, known: Known, project: string): string {
  if (key === 'project') return project
  const [name = '', field] = key.split('.')
  const found = known.get(name)
  if (found === undefined) throw new Error(`nothing was kept under ${name}`)
  return field === 'id' ? String(found.id) : found.uuid
}

function kept(body: unknown): { uuid: string; id: number } {
  const [made] = Object.values(body as Record<string, Record<string, unknown>>)
  return { uuid: String(made?.['uuid'] ?? made?.['notification_uuid']), id: Number(made?.['id']) }
}

function headOf(header: Header): Head {
  const [type, version, vary] = [header('content-type'), header('openstack-api-version'), header('vary')]
  return {
    ...(type && { type }),
    ...(version && { version }),
    ...(vary?.toLowerCase() === 'openstack-api-version' && { vary: true }),
    ...(header('x-openstack-request-id')?.startsWith('req-') === true && { requestId: true }),
    ...(header('www-authenticate') && { tokensAt: true }),
  }
}

function compared(status: number, body: unknown): Omit<Answered, 'head'> {
  if (typeof body !== 'object' || body === null) return { status }
  const [[name, inner] = ['', null]] = Object.entries(body)
  if (status >= 300) return { status, fault: name }
  if (Array.isArray(inner))
    return { status, rows: inner.length, ...(inner.length > 0 && { fields: fieldsOf(inner[0]) }) }
  return { status, fields: fieldsOf(inner) }
}

function fieldsOf(row: unknown): string[] {
  return typeof row === 'object' && row !== null ? Object.keys(row).toSorted() : []
}

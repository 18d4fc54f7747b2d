/**
 * One log line in the shape of oslo.log's default formats, which is what OpenStack's log pipelines (Kolla's fluentd among
 * them) parse: time, pid, level, name, request ids in brackets, instance, message. What has no place in that shape follows
 * the message as name=value. A line is always one line: control characters are escaped. Pure; owns no stream.
 */
const levelNames = { debug: 'DEBUG', info: 'INFO', warn: 'WARNING', error: 'ERROR' }

/** Who asked, as oslo.log prints it: user, project, domain, system scope, user's and project's domain. We act for nobody. */
const nobody = '- - - - - -'

export interface LineParts {
  /** Wall clock, epoch ms. Printed in the machine's own zone, as oslo.log does. */
  at: number
  pid: number
  level: keyof typeof levelNames
  /** Stable dotted id of what happened. */
  event: string
  message: string
  /** Without secrets already. */
  fields: Record<string, unknown>
}

/** The line, without its line end. */
export function osloLine({ at, pid, level, event, message, fields }: LineParts): string {
  const { globalRequestId, requestId, instance, ...rest } = fields
  const head = `${localTime(at)} ${pid} ${levelNames[level]} lifeboat.${event}`
  const about = typeof instance === 'string' ? `[instance: ${instance}] ` : ''
  const pairs = Object.entries(rest).filter(([, value]) => value !== undefined && value !== null)
  const extra = pairs.map(
    ([name, value]) => `${name}=${typeof value === 'string' ? word(value) : JSON.stringify(value)}`,
  )
  const tail = extra.length === 0 ? '' : ` (${extra.join(', ')})`
  return escaped(`${head} [${requestIds(globalRequestId, requestId)}] ${about}${message}${tail}`)
}

/**
 * `GLOBAL LOCAL who…`, or `-` without any, as oslo.log has it. The local one is the service's own that answered, else ours,
 * for a parser that finds none there takes the whole bracket for text.
 */
function requestIds(global: unknown, local: unknown): string {
  const known = [global, local].filter((id) => typeof id === 'string')
  if (known.length === 0) return '-'
  return `${typeof global === 'string' ? global : 'None'} ${String(typeof local === 'string' ? local : global)} ${nobody}`
}

function word(value: string): string {
  return /^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(value)
}

/** YYYY-mm-dd HH:MM:SS.mmm */
function localTime(at: number): string {
  const time = new Date(at)
  const two = (n: number): string => String(n).padStart(2, '0')
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`
  return `${date} ${clock}.${String(time.getMilliseconds()).padStart(3, '0')}`
}

const short: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** What would end the line, or command a terminal, as text. */
function escaped(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g,
    (char) => short[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

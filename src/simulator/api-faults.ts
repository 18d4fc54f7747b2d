/**
 * Faults between a client and the simulated API: late answers, error answers, connections that break before or after the
 * service acted, answers that never come or make no sense. Each says which requests it strikes and how often.
 */

/** Each kind of trouble with what it does. */
export const apiFaultKinds = {
  slow: 'The service acts and answers `delayMs` late.',
  refuse: 'Answers `status` without acting.',
  'act-and-refuse': 'Acts, and answers `status` all the same.',
  'drop-before': 'The connection breaks before the service saw the request.',
  'drop-after': 'The service acts and the connection breaks before the answer.',
  'hang-after': 'The service acts and the answer never comes.',
  'hang-before': 'The request is swallowed: nothing is done, nothing comes.',
  'act-late':
    'The connection breaks at once, and the service acts `delayMs` later: a request that waited in the queue of a front end.',
  malformed: 'The service acts and the answer is not JSON.',
  empty: 'The service acts and an empty object comes.',
} as const

export type ApiFaultKind = keyof typeof apiFaultKinds

export interface ApiFault {
  kind: ApiFaultKind
  /** Default: every method. */
  method?: string
  /** Matched against service and path, e.g. "compute/v2.1/servers/…/action". Default: every path. */
  path?: RegExp
  /** Matched against the request's body text. */
  body?: RegExp
  /** Strikes so many times, then is gone. Default: for ever, until removed. */
  times?: number
  /** Only every n-th matching request is struck. */
  everyNth?: number
  /** Lets so many matching requests pass first. */
  skip?: number
  delayMs?: number
  status?: number
  /** The service's words in a refusal. Default: "injected fault". */
  message?: string
}

interface Armed extends ApiFault {
  seen: number
  struck: number
}

export class ApiFaults {
  private armed: Armed[] = []

  /** Arms a fault; the returned function takes it back. */
  add(fault: ApiFault): () => void {
    const entry: Armed = { ...fault, seen: 0, struck: 0 }
    this.armed.push(entry)
    return () => {
      this.armed = this.armed.filter((other) => other !== entry)
    }
  }

  clear(): void {
    this.armed = []
  }

  /** The fault that strikes this request, if any; counts it. */
  strike(method: string, path: string, body: string): ApiFault | null {
    for (const fault of this.armed) {
      if (fault.method !== undefined && fault.method !== method) continue
      if (fault.path !== undefined && !fault.path.test(path)) continue
      if (fault.body !== undefined && !fault.body.test(body)) continue
      fault.seen++
      if (fault.seen <= (fault.skip ?? 0)) continue
      if (fault.everyNth !== undefined && (fault.seen - (fault.skip ?? 0)) % fault.everyNth !== 0) continue
      if (fault.times !== undefined && fault.struck >= fault.times) continue
      fault.struck++
      return fault
    }
    return null
  }
}

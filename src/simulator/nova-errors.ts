/** Nova's error answers: a status, and the fault's name and text as Nova writes them. */

const faultNames: Record<number, string> = {
  400: 'badRequest',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'itemNotFound',
  405: 'badMethod',
  409: 'conflictingRequest',
  413: 'overLimit',
  415: 'badMediaType',
  429: 'overLimit',
  501: 'notImplemented',
  503: 'serviceUnavailable',
}

export class NovaError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'NovaError'
    this.status = status
  }

  body(): unknown {
    return { [faultNames[this.status] ?? 'computeFault']: { code: this.status, message: this.message } }
  }
}

export const badRequest = (message: string): NovaError => new NovaError(400, message)
export const conflict = (message: string): NovaError => new NovaError(409, message)
export const notFound = (message: string): NovaError => new NovaError(404, message)

/** The 409 of every action that the instance's state forbids. */
export function wrongState(method: string, uuid: string, attribute: string, value: unknown): NovaError {
  return conflict(`Cannot '${method}' instance ${uuid} while it is in ${attribute} ${String(value)}`)
}

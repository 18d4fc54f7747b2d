/** Fencing through a BMC that speaks Redfish: force off, then see PowerState Off twice. The strongest proof there is. */
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { PowerReading } from '../domain/fencing.ts'
import type { HostName } from '../domain/service.ts'
import type { FencingMethod } from './method.ts'
import { RedfishClient, type RedfishOptions, type RedfishSystem } from './redfish-client.ts'
import { verifiedOff, type VerifySettings } from './verified-off.ts'

export function redfishMethod(
  options: RedfishOptions & {
    name: string
    /** Undefined: this method does not cover the host. Looked up each time, so that a reload takes effect. */
    system: (host: HostName) => RedfishSystem | undefined
    verify: VerifySettings
  },
): FencingMethod {
  const { name, clock } = options
  const client = (host: HostName): RedfishClient => {
    const system = options.system(host)
    if (!system) throw new LifeboatError('FENCE_FAILED', `${name}: no BMC is configured for ${host}`)
    return new RedfishClient(system, options)
  }
  return {
    name,
    strength: 'power-off',
    covers: (host) => options.system(host) !== undefined,
    look: (host, signal) => readPower(() => client(host), signal),
    off: async (host, signal, mayAct) => {
      const bmc = client(host)
      const evidence: string[] = []
      const first = await bmc.read(signal).catch((thrown: unknown) => fail(name, host, ensureError(thrown)))
      if (first.powerState === 'Off') evidence.push('already off before it was fenced')
      else {
        // Reading a slow board takes seconds, in which the host may have come back.
        mayAct?.()
        evidence.push(await order(bmc, first.resetUrl, { name, host, signal, mayAct }))
      }
      return [
        ...evidence,
        ...(await verifiedOff(host, (limit) => readPower(() => bmc, limit), clock, options.verify, signal)),
      ]
    },
  }
}

/** Sends ForceOff. A refusal still counts when the host is off; a lost answer is reconciled by reading, never by resending. */
async function order(
  bmc: RedfishClient,
  url: string,
  about: { name: string; host: HostName; signal: AbortSignal | undefined; mayAct: (() => void) | undefined },
): Promise<string> {
  const { name, host, signal, mayAct } = about
  const forbidden: LifeboatError[] = []
  const mayLeave = (): void => {
    try {
      mayAct?.()
    } catch (thrown) {
      const error = ensureError(thrown)
      forbidden.push(error)
      throw error
    }
  }
  let refused: LifeboatError
  try {
    const status = await bmc.forceOff(url, signal, mayLeave)
    if (status >= 200 && status < 300) return `ForceOff accepted (${status})`
    refused = new LifeboatError('API_REFUSED', `The BMC refused ForceOff (${status})`)
  } catch (thrown) {
    const error = ensureError(thrown)
    if (forbidden.includes(error)) throw error
    if (error.certainty === 'unknown') return `ForceOff sent, no answer: ${error.message}`
    refused = error
  }
  const now = await readPower(() => bmc, signal)
  if (now.power === 'off') return `${refused.message}, but it is off`
  return fail(name, host, refused)
}

/**
 * The states of the standard: only Off is off, the others still have power. Any other word, such as that of a board that restarts itself, says
 * nothing: read as on, it would revoke a proof.
 */
const powers: Record<string, PowerReading['power']> = {
  Off: 'off',
  ...{ On: 'on', PoweringOn: 'on', PoweringOff: 'on', Paused: 'on' },
}

async function readPower(client: () => RedfishClient, signal?: AbortSignal): Promise<PowerReading> {
  try {
    const { powerState } = await client().read(signal)
    return { power: powers[powerState] ?? 'unknown', detail: `PowerState ${powerState}` }
  } catch (thrown) {
    return { power: 'unknown', detail: ensureError(thrown).message }
  }
}

function fail(name: string, host: HostName, cause: LifeboatError): never {
  throw new LifeboatError('FENCE_FAILED', `${name} could not fence ${host}: ${cause.message}`, {
    certainty: cause.certainty,
    retry: 'backoff',
    cause,
    details: { host },
  })
}

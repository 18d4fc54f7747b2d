/**
 * What an HTTP status means for us: code, certainty and whether trying again makes sense (docs/reference/errors.md).
 *
 * Nova's texts change between releases, so a text only ever refines a status, and always towards the more careful meaning.
 */
import { LifeboatError } from '../domain/errors.ts'
import type { ErrorCode, Retry } from '../domain/errors.ts'
import { calls } from './call-table.ts'
import type { ApiCall } from './call-table.ts'
import type { HttpAnswer } from './http-exchange.ts'

/** The longest piece of a service's own words that we repeat. */
const longestText = 300
const evacuatePolicy = calls.evacuate.policy

export interface Refused {
  call: ApiCall
  answer: HttpAnswer
  microversion: number | null
  scrub: (text: string) => string
}

/** The error for an answer that is not 2xx. A 401 comes here only after a fresh token was refused as well. */
export function refusal(refused: Refused): LifeboatError {
  const { call, answer } = refused
  const text = refused.scrub(serviceText(answer.text))
  const meaning = meaningOf(refused, text)
  const certainty = call.write && meaning.doubt ? 'unknown' : 'not-applied'
  return new LifeboatError(meaning.code, sentence(call, meaning, text), {
    certainty,
    // After an unknown write only reading back may follow, so its retry is never "send again".
    retry: certainty === 'unknown' ? 'never' : meaning.retry,
    details: {
      service: call.service,
      status: answer.status,
      requestId: answer.requestId,
      ...(text !== '' && { said: text }),
      ...(certainty === 'unknown' && isServed(answer) && { served: true }),
      ...(answer.retryAfterMs === null ? {} : { retryAfterMs: answer.retryAfterMs }),
    },
  })
}

const names: Record<ApiCall['service'], string> = {
  ...{ identity: 'Keystone', compute: 'Nova', volume: 'Cinder', placement: 'Placement', 'instance-ha': 'Masakari' },
}

/** Of a plain refusal the service's own words come first: they say what is wrong, and the call only what was asked for. */
function sentence({ service, method, route }: ApiCall, { code, says }: Meaning, text: string): string {
  const call = `${method} ${route}`
  if (code !== 'API_REFUSED') return `${call}: ${says}${text === '' ? '' : ` (${text})`}`
  return text === ''
    ? `${names[service]} ${says} ${call}`
    : `${text.replace(/\.$/, '')} (${names[service]} ${says} ${call})`
}

interface Meaning {
  code: ErrorCode
  retry: Retry
  says: string
  /** Whether a write may have happened all the same. */
  doubt?: boolean
}

function meaningOf({ call, answer, microversion }: Refused, text: string): Meaning {
  const { status } = answer
  const onInstance = call.route.startsWith('/servers/{id}')
  switch (status) {
    case 400:
      return badRequest(call, microversion, text)
    case 401:
      return { code: 'AUTH_FAILED', retry: 'backoff', says: 'the token was refused twice' }
    case 403:
      return { code: 'AUTH_FORBIDDEN', retry: 'never', says: `not allowed; the policy is ${call.policy ?? 'unknown'}` }
    case 404:
      if (!saysNotFound(answer)) {
        // A proxy or a gateway without a route must not make an instance "gone".
        return {
          code: 'API_MALFORMED',
          retry: 'never',
          says: '404 from something that is not this service',
          doubt: true,
        }
      }
      return onInstance && !call.route.includes('{request}')
        ? { code: 'INSTANCE_GONE', retry: 'never', says: 'no such instance' }
        : { code: 'NOT_FOUND', retry: 'never', says: 'no such resource' }
    case 406:
      return { code: 'MICROVERSION_UNSUPPORTED', retry: 'never', says: 'the microversion is not supported' }
    case 409:
      return onInstance ? busy(call, text) : { code: 'API_REFUSED', retry: 'after', says: 'refuses' }
    case 413:
    case 429:
      return { code: 'API_THROTTLED', retry: 'after', says: 'asked to slow down' }
    case 503:
      return { code: 'API_UNAVAILABLE', retry: 'backoff', says: 'the service says that it is not available' }
    default:
      if (status >= 500)
        return { code: 'API_FAULT', retry: 'backoff', says: `the service failed (${status})`, doubt: true }
      if (status >= 300 && status < 400) {
        return {
          code: 'API_MALFORMED',
          retry: 'never',
          says: `answered with a redirect (${status}); is the endpoint right?`,
        }
      }
      return { code: 'API_REFUSED', retry: 'never', says: `refuses with ${status}` }
  }
}

/**
 * Nova checks the state before it acts, with one exception: an evacuation refused for its RPC version has already set the
 * task state and written a migration (docs/nova.md §2.1). So an evacuate conflict that is not about the state is doubtful.
 */
function busy(call: ApiCall, text: string): Meaning {
  const says = 'the instance is in a state that does not allow this'
  const doubt = call.policy === evacuatePolicy && !/vm_state|task_state|launched_at|share|locked/i.test(text)
  return { code: 'INSTANCE_BUSY', retry: 'after', says, doubt }
}

/** The 400s of evacuate that a caller must tell apart (docs/nova.md §2.1). */
function badRequest(call: ApiCall, microversion: number | null, text: string): Meaning {
  if (call.policy === evacuatePolicy) {
    if (/service\b.*(still in use|still up)/i.test(text)) {
      return { code: 'HOST_STILL_UP', retry: 'after', says: 'Nova takes the host for up' }
    }
    if (
      microversion !== null &&
      microversion >= 95 &&
      /2\.95|compute[s]?\b.*(version|support|upgrade|older)|stopped state/i.test(text)
    ) {
      return {
        code: 'MICROVERSION_UNSUPPORTED',
        retry: 'after',
        says: 'a nova-compute is too old to land instances stopped',
      }
    }
  }
  return { code: 'API_REFUSED', retry: 'never', says: 'refuses' }
}

/**
 * Whether the service itself answered that it failed: its worker has let go of the request, so what it did not do by now it never
 * does. Where a proxy answered (502, 504, a page of its own) the request may still wait in a queue (docs/nova.md §2.1).
 */
function isServed(answer: HttpAnswer): boolean {
  return answer.status === 500 && fromOpenStack(answer)
}

function fromOpenStack(answer: HttpAnswer): boolean {
  return answer.requestId !== null || /^\s*\{/.test(answer.text)
}

/** Every 404 of an OpenStack service has the id of its request, or names its fault; a gateway's own may well be JSON. */
function saysNotFound({ requestId, text }: HttpAnswer): boolean {
  return requestId !== null || /^\s*\{\s*"(itemNotFound"\s*:|error"\s*:\s*\{|errors"\s*:\s*\[)/.test(text)
}

/** The service's own message from any of OpenStack's fault shapes, shortened; nothing of a page that is not JSON. */
function serviceText(body: string): string {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return ''
  }
  const queue: unknown[] = [parsed]
  for (let at = queue.shift(), depth = 0; at !== undefined && depth < 20; at = queue.shift(), depth += 1) {
    if (typeof at !== 'object' || at === null) continue
    const message = (at as { message?: unknown }).message
    if (typeof message === 'string') return message.replace(/\s+/g, ' ').slice(0, longestText)
    queue.push(...(Object.values(at) as unknown[]))
  }
  return ''
}

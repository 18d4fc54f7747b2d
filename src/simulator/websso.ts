/**
 * The simulated Keystone's single sign-on for browsers (OS-FEDERATION's websso), and what it tells of its federation. The
 * identity provider is one line: whom it knows in the browser (`Federation.signedOn`).
 */
import type { Answer, Exchange } from './exchange.ts'
import { failure } from './keystone-failure.ts'
import type { Federation } from './model.ts'

const address =
  /^\/v3\/auth\/OS-FEDERATION\/(?:identity_providers\/([^/]+)\/protocols\/([^/]+)\/websso|websso\/([^/]+))$/
const protocols = /^\/v3\/OS-FEDERATION\/identity_providers(?:\/([^/]+)\/protocols\/([^/]+))?$/

/** Null: another path. `signOn` gives a token for no project, or null for a user whom Keystone does not know. */
export function websso(
  { path, query }: Exchange,
  { providers, trustedDashboards, signedOn }: Federation,
  signOn: (user: string) => string | null,
): Answer | null {
  const asked = address.exec(path)
  if (asked === null) return null
  const [, provider, itsProtocol = '', alone = ''] = asked
  if (provider !== undefined && !has(providers, provider, itsProtocol)) return noProtocol(provider, itsProtocol)
  const isKnown = provider !== undefined || Object.keys(providers).some((each) => has(providers, each, alone))
  if (signedOn === null || !isKnown) return failure(401, 'Unauthorized', 'Missing entity ID from environment')
  const origin = query.get('origin')
  if (origin === null) return failure(400, 'Bad Request', 'Request must have an origin query parameter')
  if (!trustedDashboards.includes(origin))
    return failure(401, 'Unauthorized', `${origin} is not a trusted dashboard host`)
  const token = signOn(signedOn)
  if (token === null) return failure(401, 'Unauthorized', 'Could not map any federated user properties')
  return { status: 200, html: pageFor(origin, token) }
}

/** What `openstack identity provider list` and `federation protocol show` ask. */
export function federationAnswer({ method, path }: Exchange, { providers }: Federation): Answer {
  const asked = method === 'GET' ? protocols.exec(path) : null
  if (asked === null) return failure(404, 'Not Found', 'The resource could not be found.')
  const [, provider, protocol = ''] = asked
  if (provider === undefined)
    return { status: 200, body: { identity_providers: Object.keys(providers).map((id) => ({ id })) } }
  return has(providers, provider, protocol)
    ? { status: 200, body: { protocol: { id: protocol, mapping_id: `${provider}-mapping` } } }
    : noProtocol(provider, protocol)
}

function has(providers: Federation['providers'], provider: string, protocol: string): boolean {
  return Object.hasOwn(providers, provider) && providers[provider]?.includes(protocol) === true
}

function noProtocol(provider: string, protocol: string): Answer {
  const message = `Could not find federated protocol ${protocol} for Identity Provider: ${provider}.`
  return failure(404, 'Not Found', message)
}

/** As Keystone's own: it posts the token by itself. An origin that is trusted needs no escape. */
function pageFor(origin: string, token: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Single sign-on</title></head><body>
<form id="sso" action="${origin}" method="post"><input type="hidden" name="token" value="${token}"></form>
<script>document.getElementById('sso').submit()</script>
</body></html>
`
}

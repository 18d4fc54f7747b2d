/**
 * What this client needs to know to reach one cloud, validated and with every default filled in.
 *
 * Owns the shapes only. clouds-file.ts makes them from clouds.yaml and the environment, keystone.ts logs in with them.
 * They hold secrets: never log them, never put them into an error.
 */

/** A user or project by id, or by name within a domain. */
export type Named = { id: string } | { name: string; domain: { id: string } | { name: string } }

/** `user` may lack its domain only beside a user id. */
export type Credential =
  | { kind: 'password'; user: Named; password: string; project: Named }
  | { kind: 'application-credential'; id: string; secret: string }
  | { kind: 'application-credential'; name: string; user: Named; secret: string }
  | { kind: 'token'; token: string; project: Named | null }

/** The services that this client talks to beside Keystone. */
export type ServiceKind = 'compute' | 'volume' | 'placement'
/** Masakari: only the import from it asks for it. */
export type OptionalService = 'instance-ha'

/** How one service is found in the catalogue, or where it is when the catalogue is overridden. */
export interface EndpointChoice {
  /** In order of preference: public, internal, admin. */
  interfaces: string[]
  region: string | null
  /** `compute_endpoint_override` and its like: taken instead of the catalogue. */
  override: string | null
}

/** Paths, absolute. `verify: false` beats `cacert`, as in openstacksdk. */
export interface TlsChoice {
  verify: boolean
  cacert: string | null
  cert: string | null
  key: string | null
}

export interface CloudConfig {
  /** The name in clouds.yaml, or "envvars". */
  name: string
  /** Where it was read: file names, or "environment". For people. */
  source: string
  /** Ends in /v3. */
  authUrl: string
  credential: Credential
  endpoints: Record<ServiceKind, EndpointChoice> & Partial<Record<OptionalService, EndpointChoice>>
  tls: TlsChoice
  /** `api_timeout` of clouds.yaml in milliseconds, or null: the client's own limits. */
  apiTimeoutMs: number | null
}

/** Every value in it that must never be seen in an error or a log line. */
export function secretsOf(credential: Credential): string[] {
  switch (credential.kind) {
    case 'password':
      return [credential.password]
    case 'application-credential':
      return [credential.secret]
    case 'token':
      return [credential.token]
  }
}

/** Who a token of the cloud belongs to, and where that is asked. Keystone answers it; the REST API decides what it allows. */

export interface TokenHolder {
  user: { id: string; name: string; domain: string }
  /** What the token is good for: one project, the cloud as a whole, or neither. */
  scope: { kind: 'project'; id: string; name: string; domain: string } | { kind: 'system' } | { kind: 'other' }
  roles: string[]
  /** For how long the cloud will take it, ms from now. */
  leftMs: number
}

export interface Login {
  user: string
  password: string
  userDomain: string
  /** Null: the daemon's own project. */
  project: { name: string; domain: string } | 'system' | null
}

/** What a token can be asked for: a project, or the system as a whole. */
export type TokenScope = { id: string } | { name: string; domain: string } | 'system'

/** A login by the cloud's own single sign-on (Keystone's WebSSO), as it is configured. */
export interface SsoWay {
  /** What its button says. */
  name: string
  /** Keystone's federation protocol. */
  protocol: string
  /** Keystone's identity provider; null: Keystone finds it by the protocol. */
  identityProvider: string | null
}

/** What the login page offers beside password and token. */
export interface SsoOffer {
  ways: { name: string }[]
  /** Why this browser's last login by single sign-on was refused, for a minute; null: it was not. */
  refused: string | null
}

/** What Keystone says of tokens. Every call throws when Keystone does not answer: then refuse, for nobody is known. */
export interface TokenCheck {
  /** Null: the cloud does not know this token, or it ended or was revoked. */
  holder(token: string): Promise<TokenHolder | null>
  /** A token for a person; null when the cloud refuses the password, or the person has no role there. */
  login(login: Login): Promise<{ token: string; holder: TokenHolder } | null>
  /** The same person's token for that scope, good no longer than theirs; null when they have no role there. A secret. */
  rescope(token: string, scope: TokenScope): Promise<string | null>
  /** The project of the daemon's own credential. */
  ownProject(): Promise<{ id: string; name: string }>
  /** Where browsers reach Keystone, ending in /v3. */
  publicUrl(): Promise<string>
}

export interface PersonLoginOrder {
  /** OS_* and the places of clouds.yaml. */
  env: Readonly<Record<string, string | undefined>>
  /** A file of CAs that beats the one of the variables; null: there is none. */
  cacert: string | null
  /** How long Keystone may take, ms. */
  limitMs: number
}

/** How a person at a command line shows who they are. */
export interface PersonLogin {
  /** The file of CAs that their variables name; null: those that this machine trusts. */
  cacert: string | null
  /** A token that is good now. A secret. Throws AUTH_FAILED, AUTH_FORBIDDEN, or what kept Keystone from answering. */
  token(): Promise<string>
  /** The last one was refused. True: `token` gives another. */
  refused(): boolean
}

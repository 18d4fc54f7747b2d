/** The TLS of a receiver: whose certificate Lifeboat believes, and the one that it shows to a receiver that asks for one. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { SecureContextOptions } from 'node:tls'
import { LifeboatError } from '../domain/errors.ts'
import { readNamedFile } from '../system/regular-file.ts'

export interface TlsSettings {
  /** Path of a PEM bundle; null: the system's certificates. */
  caFile: string | null
  verify: boolean
  /** Paths of PEM files: what Lifeboat shows to a receiver that asks for a client certificate. Null: nothing. */
  client: { certFile: string; keyFile: string } | null
}

/** For a connection to the receiver. Reads the files; throws CONFIG_INVALID, which names the one that cannot be used. */
export function tlsOptions({
  caFile,
  verify,
  client,
}: TlsSettings): SecureContextOptions & { rejectUnauthorized: boolean } {
  return {
    rejectUnauthorized: verify,
    ...(caFile !== null && { ca: readNamedFile('The CA file of a notice receiver', caFile) }),
    ...(client !== null && clientPair(client)),
  }
}

/** What a receiver said of the certificate that Lifeboat showed or did not show; null: the failure is about something else. */
export function certificateRefusal(code: string): string | null {
  if (/_ALERT_CERTIFICATE_REQUIRED$/.test(code)) return 'it asks for a client certificate (cert_file, key_file)'
  return /_ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_\w+)$/.test(code)
    ? 'it refuses the client certificate'
    : null
}

/** Looked at here: the TLS library would say only that something does not match, and not which file. */
function clientPair({ certFile, keyFile }: NonNullable<TlsSettings['client']>): { cert: Buffer; key: Buffer } {
  const cert = readNamedFile('The client certificate for a notice receiver', certFile)
  const key = readNamedFile('The key of the client certificate for a notice receiver', keyFile)
  const certificate = parsed(`${certFile} holds no certificate in PEM`, () => new X509Certificate(cert))
  const privateKey = parsed(`${keyFile} holds no private key in PEM without a passphrase`, () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(privateKey))
    throw new LifeboatError('CONFIG_INVALID', `The key ${keyFile} does not fit the client certificate ${certFile}`)
  return { cert, key }
}

function parsed<T>(otherwise: string, parse: () => T): T {
  try {
    return parse()
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    throw new LifeboatError('CONFIG_INVALID', `${otherwise}: ${why}`, { cause: thrown })
  }
}

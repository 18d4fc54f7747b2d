/** Who may answer for an attestation. Pure. */

/** Accounts that many people, or none, stand behind. */
const accounts = new Set(['root', 'admin', 'administrator', 'operator', 'daemon', 'nobody', 'lifeboat', 'system'])

/** Whether a name can be a person's: someone who can be asked later how they knew. */
export function isPerson(name: string): boolean {
  const plain = name.trim().toLowerCase()
  return /\p{L}/u.test(plain) && !accounts.has(plain)
}

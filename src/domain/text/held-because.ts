/** Why an incident is held. Pure. */

/** The reason without the word `held` that stands beside it wherever it is read: the brake of older releases recorded it too. */
export function heldBecause(message: string): string {
  return message.replace(/^held: /, '')
}

/** Keeps secrets out of texts that services send back: some repeat the request in their errors. */

/** Anything shorter would blank out ordinary words; the lab's three letters are no secret worth a ruined message. */
const shortestSecret = 6

export function scrubber(secrets: readonly string[]): (text: string) => string {
  const hidden = secrets.filter((secret) => secret.length >= shortestSecret)
  return (text) => hidden.reduce((clean, secret) => clean.replaceAll(secret, '***'), text)
}

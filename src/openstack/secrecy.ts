/** Keeps secrets out of texts that services send back: some repeat the request in their errors. */

/** Shorter secrets are hidden only as whole words: blanked out inside ordinary words they would be readable from the gaps. */
const shortestPlain = 6

/** A function that blanks out every one of `secrets`. */
export function scrubber(secrets: readonly string[]): (text: string) => string {
  const patterns = secrets
    .filter((secret) => secret !== '')
    .map((secret) => {
      const literal = secret.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      return new RegExp(secret.length < shortestPlain ? `(?<!\\w)${literal}(?!\\w)` : literal, 'g')
    })
  return (text) => patterns.reduce((clean, pattern) => clean.replace(pattern, '***'), text)
}

/** Which page an address is. Pure. */

/** /incidents/:id against a path: the parameters, or null. */
export function matchPath(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split('/')
  const found = path.replace(/\/+$/, '').split('/')
  if (path === '/') return pattern === '/' ? {} : null
  if (wanted.length !== found.length) return null
  const params: Record<string, string> = {}
  for (const [index, part] of wanted.entries()) {
    const piece = found[index] ?? ''
    if (part.startsWith(':')) params[part.slice(1)] = decoded(piece)
    else if (part !== piece) return null
  }
  return params
}

function decoded(piece: string): string {
  try {
    return decodeURIComponent(piece)
  } catch {
    return piece
  }
}

/** Templates such as "https://{bmc}/Systems/1": {name} is a variable, {{ and }} are the braces themselves. */

const tokens = /\{\{|\}\}|\{([^{}]*)\}|[{}]/g

/** Names of the variables in `template`. A stray brace is reported as the name "{" or "}", which nothing defines. */
export function variablesIn(template: string): string[] {
  return [...template.matchAll(tokens)]
    .filter(([all]) => all !== '{{' && all !== '}}')
    .map((match) => match[1] ?? match[0])
}

/** `template` with its variables filled in; what `valueOf` throws for an unknown one ends it. */
export function filledIn(template: string, valueOf: (name: string) => string): string {
  return template.replace(tokens, (all, name: string | undefined) =>
    all === '{{' || all === '}}' ? all.charAt(0) : valueOf(name ?? all),
  )
}

/** docs/reference/verdict-reasons.md: why a host is judged so, from domain/. Says nothing of its own. */
import { verdictKinds } from '../domain/verdict.ts'
import { verdictReasons } from '../domain/verdict-reasons.ts'

export function verdictReasonsPage(): string {
  const kinds = Object.entries(verdictKinds).map(([kind, means]) => `| *${kind}* | ${means} |\n`)
  const reasons = Object.entries(verdictReasons).map(
    ([code, { of, means }]) => `| \`${code}\` | ${of.map((kind) => `*${kind}*`).join(', ')} | ${means} |\n`,
  )
  return `# Verdicts and their reasons

What Lifeboat believes of a host, and why: \`lifeboat host list\` and \`lifeboat host show\`, the journal's \`verdict.changed\`, the REST API.
[detection.md](../detection.md) says how it concludes that a host is dead.

| Verdict | Means |
| --- | --- |
${kinds.join('')}
The reason code of a verdict; its sentence has the numbers and the names.

| Code | Verdict | Means |
| --- | --- | --- |
${reasons.join('')}`
}

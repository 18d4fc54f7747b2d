/** The files of the project that are made from its source: `npm run generate` writes them, a test keeps them current. */
import { readFileSync, writeFileSync } from 'node:fs'
import { openApi } from '../api/index.ts'
import { errorCodes } from '../domain/errors.ts'
import { accessRules } from '../openstack/access-rules.ts'
import { callTable } from '../openstack/call-table.ts'
import { policyFiles } from '../openstack/policy-snippets.ts'
import { installed } from '../system/installed.ts'
import { metricsPage } from '../telemetry/metrics-page.ts'
import { configJsonSchema, configSchemaText, optionsPage } from '../config/index.ts'
import { cliPage } from './cli-reference.ts'
import { manualPages } from './manual/index.ts'
import { reasonsPage } from './reasons-page.ts'
import { verdictReasonsPage } from './verdict-reasons-page.ts'

/** Path in the project -> text. */
export async function generatedFiles(): Promise<Map<string, string>> {
  const openapi = `${JSON.stringify(await openApi(), null, 2)}\n`
  return new Map([
    ['config/lifeboat.schema.json', configSchemaText()],
    ['docs/reference/configuration.md', optionsPage()],
    ['docs/reference/metrics.md', metricsPage()],
    ['docs/reference/errors.md', errorsPage()],
    ['docs/reference/reasons.md', reasonsPage(shipped('host-failure.yaml'), shipped('instance-failure.yaml'))],
    ['docs/reference/verdict-reasons.md', verdictReasonsPage()],
    ['docs/reference/openstack-calls.md', callsPage()],
    ['config/openstack/access-rules.json', `${JSON.stringify(accessRules(), null, 2)}\n`],
    ...policyFiles().map(([name, text]): [string, string] => [`config/openstack/${name}`, text]),
    ...manualPages(configJsonSchema(), shipped('README.md')),
    ['docs/reference/openapi.json', openapi],
    ['docs/reference/cli.md', cliPage()],
  ])
}

/** Writes them; gives their paths. */
export async function writeGeneratedFiles(): Promise<string[]> {
  return [...(await generatedFiles())].map(([path, text]) => {
    writeFileSync(installed(path), text)
    return path
  })
}

function shipped(file: string): string {
  return readFileSync(installed(`recovery-workflows/${file}`), 'utf8')
}

function errorsPage(): string {
  const rows = Object.entries(errorCodes).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`)
  const intro =
    'Every error has one of these codes. It also says whether the cloud acted (not-applied, applied, unknown) and whether a retry can help.'
  return `# Error codes\n\n${intro}\n\n| Code | Meaning |\n| --- | --- |\n${rows.join('\n')}\n`
}

function callsPage(): string {
  const rows = callTable.map(
    ({ method, route, microversion, policy, why }) =>
      `| ${method} | \`${route}\` | ${microversion} | ${policy === null ? 'any token' : `\`${policy}\``} | ${why} |`,
  )
  const intro =
    'Every call that Lifeboat sends to OpenStack. Its role, or the access rules of its application credential, must allow them.'
  return `# Calls to OpenStack\n\n${intro}\n\n| Method | Path | Microversion | Policy | Why |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`
}

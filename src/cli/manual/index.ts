/** The manual pages that are made from the program itself, as scdoc sources. */
import type { Commands } from '../composition.ts'
import { commandTree } from '../program.ts'
import { Session } from '../session.ts'
import { commandPage } from './command-page.ts'
import { configPage, type OptionSchema } from './config-page.ts'
import { workflowPage } from './workflow-page.ts'

/**
 * Path in the project -> text.
 *
 * @param schema JSON Schema of the configuration @param workflows recovery-workflows/README.md
 */
export function manualPages(schema: OptionSchema, workflows: string): [path: string, text: string][] {
  return [
    ['docs/man/lifeboat.1.scd', commandPage(grammar())],
    ['docs/man/lifeboat.yaml.5.scd', configPage(schema)],
    ['docs/man/lifeboat-workflow.5.scd', workflowPage(workflows)],
  ]
}

/** The command line, to be read and not to be run. */
export function grammar(): ReturnType<typeof commandTree> {
  const silent = { env: {}, stdout: () => undefined, stderr: () => undefined }
  return commandTree(new Session({ version: '' } as Commands, silent, () => ({})))
}

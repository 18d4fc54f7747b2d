/** The manual pages that are made from the program itself, as scdoc sources. */
import { bareTree } from '../cli-reference.ts'
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
    ['docs/man/lifeboat.1.scd', commandPage(bareTree())],
    ['docs/man/lifeboat.yaml.5.scd', configPage(schema)],
    ['docs/man/lifeboat-workflow.5.scd', workflowPage(workflows)],
  ]
}

/** Writes config/lifeboat.schema.json from the configuration's one source. */
import { writeFileSync } from 'node:fs'
import { configSchemaText } from '../src/daemon/config/index.ts'

writeFileSync(new URL('../config/lifeboat.schema.json', import.meta.url), configSchemaText())

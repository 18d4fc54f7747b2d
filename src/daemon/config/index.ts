/** The configuration, as everything outside this directory sees it. */
export { withoutSecrets, type Config, type FencingConfig, type ProbeConfig, type RedfishConfig } from './config.ts'
export { parseDuration } from './duration.ts'
export { configJsonSchema, configSchemaText } from './json-schema.ts'
export { changesBetween, effectiveDocument, shownValue, type EffectiveOption } from './effective.ts'
export { loadConfig, loadConfiguration, parseConfig, parseConfiguration, socketOf, type LoadedConfig } from './load.ts'
export { optionsPage } from './options-page.ts'
export { segmentOf } from './segments.ts'
export { hostVariable } from './template.ts'

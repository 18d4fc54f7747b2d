/** The configuration, as everything outside this directory sees it. */
export { withoutSecrets, type Config, type FencingConfig, type ProbeConfig, type RedfishConfig } from './config.ts'
export { formatDuration, parseDuration } from './duration.ts'
export { configJsonSchema, configSchemaText } from './json-schema.ts'
export { loadConfig, parseConfig, type LoadOptions } from './load.ts'
export { segmentOf } from './segments.ts'
export { hostVariable } from './template.ts'

/** Schema 2: instances are found by their names. An index alone: an older release writes the same journal beside it. */
export const migration0002 = {
  number: 2,
  name: 'instances-by-name',
  breaking: false,
  sql: 'CREATE INDEX instances_by_name ON instances (name);',
} as const

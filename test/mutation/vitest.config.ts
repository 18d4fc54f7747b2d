import { defineConfig } from 'vitest/config'

/**
 * The tests that may kill a mutant: those that state a rule and answer at once. No child processes, no sockets, no real
 * waiting; and not the properties over random surveys, so that the score is the same at every run.
 */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: [
      'test/mutation/*.test.ts',
      'test/engine/**/*.test.ts',
      'test/monitor/**/*.test.ts',
      'test/executor/decisions/**/*.test.ts',
    ],
    exclude: ['test/**/*.property.test.ts', 'test/monitor/probes.test.ts', 'node_modules/**'],
    isolate: false,
    testTimeout: 5_000,
  },
})

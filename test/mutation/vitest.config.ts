import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * What a test loads is covered by that test alone, and so nothing else would be asked about a schema or a table of a module that it loads
 * first. The test that only loads comes last.
 */
class LoadsLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLoads = ({ moduleId }: TestSpecification): number => Number(moduleId.endsWith('/loads.test.ts'))
    return (await super.sort(files)).toSorted((a, b) => isLoads(a) - isLoads(b))
  }
}

/**
 * The tests that may kill a mutant: those that state a rule and answer at once. No child processes, no sockets, no real
 * waiting; and not the properties over random surveys, so that the score is the same at every run. MUTATION_TESTS, files
 * with blanks between, narrows it further: a mutant takes a tenth of the time, and the score can only be lower.
 */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: process.env['MUTATION_TESTS']?.split(' ') ?? [
      'test/mutation/*.test.ts',
      'test/engine/**/*.test.ts',
      'test/monitor/**/*.test.ts',
      'test/executor/decisions/**/*.test.ts',
      'test/executor/host-recheck.test.ts',
      'test/domain/{back-off,host-return,instance-failure,process-failure,return-record}.test.ts',
      'test/preflight/workflow-files.test.ts',
      'test/formats/*.test.ts',
      'test/control/brake-watch.test.ts',
      'test/orders/order-holds.test.ts',
      'test/journal/shared/{lease,move,shipper}.test.ts',
      'test/journal/shared/{tenure,tenure-doubts,tenure-standby,tenure-states}.test.ts',
    ],
    exclude: [
      'test/**/*.property.test.ts',
      // Sockets, child processes, and a thousand days of heartbeats.
      'test/monitor/{probes,ipmi,prometheus,host-days}.test.ts',
      'node_modules/**',
    ],
    setupFiles: ['test/mutation/setup.ts'],
    sequence: { sequencer: LoadsLast },
    isolate: false,
    testTimeout: 5_000,
  },
})

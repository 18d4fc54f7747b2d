import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * From the longest on. A clean clone has no times of an earlier run: vitest goes by the size of the files there, and what takes longest is
 * small. Begun last it would run while nothing else does.
 */
const longest = [
  'scenarios/scenarios-1',
  'scenarios/scenarios-2',
  'scenarios/scenarios-3',
  'crash/crash',
  'contract/nova-contract',
  'properties/recovery.property',
  'crash/replay',
  'control/instance-failures',
  'control/held-incidents',
  'journal/shared/move',
].map((name) => `/test/${name}.test.ts`)

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = longest.findIndex((name) => moduleId.endsWith(name))
      return at < 0 ? longest.length : at
    }
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}

// `npm test` runs everything that needs neither root nor a real cloud. The real-Nova suite has its own configuration.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/galera/**', 'test/nova/**', 'test/web/**', 'node_modules/**'],
    // Of tests that start daemons of their own, where the machine does much else; a test that hangs hangs for ever.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    pool: 'forks',
    // Simulated hours leave little behind and make much that is soon over: V8's own 16 MB for what is young fill so often that collecting them
    // takes a tenth of the time. More than this gains nothing.
    execArgv: ['--max-semi-space-size=64'],
    // A worker reads each module once, not once per file: what modules keep (caches) no test may see.
    isolate: false,
    // A poll's default of one second is too short for a machine that does something else too.
    expect: { poll: { timeout: 60_000 } },
    // Some files wait for real processes and real time: one more than two cores need.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
  },
})

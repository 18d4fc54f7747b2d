import { defineConfig } from 'vitest/config'

// `npm test` runs everything that needs neither root nor a real cloud. The real-Nova suite has its own configuration.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/galera/**', 'test/nova/**', 'test/web/**', 'node_modules/**'],
    // Of tests that start daemons of their own, where the machine does much else; a test that hangs hangs for ever.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    pool: 'forks',
    // A worker reads each module once, not once per file: what modules keep (caches) no test may see.
    isolate: false,
    // A poll's default of one second is too short for a machine that does something else too.
    expect: { poll: { timeout: 60_000 } },
    // Some files wait for real processes and real time: one more than two cores need.
    maxWorkers: 3,
  },
})

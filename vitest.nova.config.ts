import { defineConfig } from 'vitest/config'

// The suite against a real Nova (test/lab): needs root and minutes, and breaks hosts, so one file at a time.
export default defineConfig({
  test: {
    include: ['test/nova/**/*.test.ts'],
    // Each wait has a shorter limit of its own (test/nova/daemon-process.ts). A test that is cut off goes on beside the next one.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    pool: 'forks',
    // A poll's default of one second is too short for a machine that does something else too.
    expect: { poll: { timeout: 60_000 } },
    fileParallelism: false,
    // Two cores bear the cloud, the daemon and this at once: what fails once and not twice is the machine. The report names it.
    retry: 1,
    sequence: { concurrent: false },
  },
})

import { defineConfig } from 'vitest/config'

// The pages in a real browser (Debian's chromium), against the real daemon on a simulated cloud. One file at a time: browsers
// that share two cores time out.
export default defineConfig({
  test: {
    include: ['test/web/**/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    pool: 'forks',
    // A poll's default of one second is too short for a machine that does something else too.
    expect: { poll: { timeout: 60_000 } },
    fileParallelism: false,
    // The one worker reads each module once, not once per file: what modules keep (caches) no test may see.
    isolate: false,
    // Two cores bear the cloud, the daemon and this at once: what fails once and not twice is the machine. The report names it.
    retry: 1,
  },
})

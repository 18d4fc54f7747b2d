import { defineConfig } from 'vitest/config'

// The shared journal on real nodes of MariaDB Galera: needs root and Debian's mariadb-server. One file at a time, for each has a cluster.
export default defineConfig({
  test: {
    include: ['test/galera/**/*.test.ts'],
    testTimeout: 240_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // A poll's default of one second is shorter than a cluster takes to vote a node out.
    expect: { poll: { timeout: 60_000 } },
    fileParallelism: false,
    // Votes and copies of nodes take their time as the machine lets them: what fails once and not twice is the machine.
    retry: 1,
  },
})

/** Mutation tests of the decisions (docs/mutation.md): `npm run mutation -- --mutate src/engine/wishes.ts`, or all. */
export default {
  plugins: ['@stryker-mutator/vitest-runner', './test/mutation/prose.mjs'],
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: true },
  ignorers: ['prose'],
  mutate: [
    'src/engine/*.ts',
    'src/executor/{patience,gate,slots,step-runner,host-watch}.ts',
    'src/executor/steps/{evacuate,confirm-resize,power,marks}.ts',
    'src/monitor/{verdict-rules,brake,brake-trips,freezer,control-plane,heartbeat,suspicion,witnesses,probe-round}.ts',
  ],
  coverageAnalysis: 'perTest',
  concurrency: 1,
  timeoutMS: 5_000,
  reporters: ['clear-text', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, reportScoreTable: true },
  jsonReporter: { fileName: '.stryker/report.json' },
  tempDirName: '.stryker/sandbox',
  ignorePatterns: ['dist', 'bench', 'docs', '.lifeboat', 'test/lab', 'test/nova'],
  thresholds: { high: 90, low: 85, break: 85 },
}

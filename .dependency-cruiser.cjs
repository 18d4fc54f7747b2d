// The architecture as rules: data flows one way (docs/architecture.md). Each rule's comment is the reason it exists.
const only = (name, pkg, dirs, comment) => ({
  name, severity: 'error', comment,
  from: { path: '^src/', pathNot: dirs.map((d) => `^src/${d}/`) },
  to: { path: `(^|/)node_modules/${pkg}(/|$)|^${pkg}$` },
})
const sealed = (dir, mayUse, comment) => ({
  name: `${dir}-knows-only-${mayUse.join('-and-') || 'itself'}`, severity: 'error', comment,
  from: { path: `^src/${dir}/` },
  to: { path: '^src/', pathNot: [`^src/${dir}/`, ...mayUse.map((d) => `^src/${d}/`)] },
})
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', comment: 'A cycle means two modules are one.', from: {}, to: { circular: true } },
    sealed('domain', [], 'The words of the product depend on nothing.'),
    sealed('monitor', ['domain'], 'The monitor says what it saw; it never writes to the cloud.'),
    sealed('engine', ['domain'], 'The engine decides; it calls no API.'),
    sealed('executor', ['domain'], 'The executor acts on a plan; it never decides whether.'),
    sealed('journal', ['domain'], 'The journal stores; it knows no cloud.'),
    sealed('openstack', ['domain'], 'The only place that knows the JSON of OpenStack.'),
    sealed('fencing', ['domain'], 'The only place that makes a FencingProof.'),
    sealed('telemetry', ['domain'], 'What people watch; it decides nothing.'),
    sealed('simulator', ['domain'], 'A simulated cloud answers over HTTP; the daemon must not know that it is simulated.'),
    sealed('api', ['domain'], 'Pages and REST read through interfaces that domain states.'),
    { name: 'main-is-the-top', severity: 'error', comment: 'Only main knows the process.', from: { pathNot: '^src/main.ts$' }, to: { path: '^src/main.ts$' } },
    { name: 'src-never-imports-test', severity: 'error', comment: 'Tests may import anything; nothing imports tests.', from: { path: '^src/' }, to: { path: '^test/' } },
    { name: 'pure-engine', severity: 'error', comment: 'The engine is pure: no files, no network, no processes.', from: { path: '^src/engine/' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?crypto$' } },
    { name: 'pure-domain', severity: 'error', comment: 'domain is types and pure functions.', from: { path: '^src/domain/' }, to: { dependencyTypes: ['core', 'npm'] } },
    only('axios-at-the-edge', 'axios', ['openstack', 'fencing'], 'HTTP to the cloud and to BMCs only there.'),
    only('sql-in-the-journal', 'better-sqlite3', ['journal'], 'All SQL lives in the journal.'),
    only('pino-in-telemetry', 'pino', ['telemetry'], 'One place makes loggers.'),
    only('prom-client-in-telemetry', 'prom-client', ['telemetry'], 'One place makes metrics.'),
    only('cron-in-the-daemon', 'node-cron', ['daemon'], 'Calendar work is wired in the composition root.'),
    only('queue-in-the-executor', 'p-queue', ['executor'], 'Only the executor queues work.'),
    only('cel-in-the-engine', '@marcbachmann/cel-js', ['engine'], 'Conditions can change their library in one place.'),
    only('fastify-in-the-api', 'fastify', ['api', 'simulator'], 'HTTP servers live there.'),
    only('commander-in-the-cli', 'commander', ['cli'], 'Command lines live there.'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
}

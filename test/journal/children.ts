/** Other processes that use a journal: the sources compiled to a directory that plain Node can run. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'

const root = resolve(import.meta.dirname, '../..')

/** Compiles domain/ and journal/ into `directory` and returns the path of the compiled journal module. */
export function compileJournal(directory: string): string {
  const compilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2023,
    rewriteRelativeImportExtensions: true,
    verbatimModuleSyntax: true,
  }
  for (const part of ['domain', 'journal', 'journal/migrations', 'journal/shared']) {
    mkdirSync(join(directory, part), { recursive: true })
    for (const name of readdirSync(join(root, 'src', part)).filter((file) => file.endsWith('.ts'))) {
      const source = readFileSync(join(root, 'src', part, name), 'utf8')
      writeFileSync(
        join(directory, part, name.replace(/\.ts$/, '.js')),
        ts.transpileModule(source, { compilerOptions }).outputText,
      )
    }
  }
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  return join(directory, 'journal/journal.js')
}

/** Starts a process that opens the journal and then runs `body` with `journal` in scope. */
export function startWriter(
  modulePath: string,
  journalPath: string,
  body: string,
  shell?: string,
): ChildProcessWithoutNullStreams {
  const script = `
    import { writeSync } from 'node:fs'
    const say = (text) => writeSync(1, text + '\\n')
    const { openJournal } = await import(${JSON.stringify(modulePath)})
    const clock = { now: () => performance.now(), wall: () => Date.now(), after: () => () => undefined }
    const note = (n) => ({ kind: 'alarm.raised', data: { code: 'TEST', message: 'm'.repeat(500) + n } })
    const journal = openJournal(${JSON.stringify(journalPath)}, { clock })
    ${body}`
  const run = [process.execPath, '--input-type=module', '-e', script]
  if (shell === undefined) return spawn(run[0]!, run.slice(1))
  return spawn('bash', ['-c', `${shell}; exec "$@"`, 'bash', ...run])
}

/** The child's next whole line on stdout; throws with its stderr when it ends first. */
export function lineFrom(child: ChildProcessWithoutNullStreams, wanted: RegExp): Promise<string> {
  return new Promise((resolveLine, reject) => {
    let output = ''
    let errors = ''
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const line = output
        .split('\n')
        .slice(0, -1)
        .find((text) => wanted.test(text))
      if (line !== undefined) resolveLine(line)
    })
    child.on('close', () => reject(new Error(`it ended without ${wanted}: ${output.slice(-500)} ${errors}`)))
  })
}

export function ended(child: ChildProcessWithoutNullStreams): Promise<void> {
  return new Promise((done) => {
    if (child.exitCode !== null || child.signalCode !== null) done()
    else child.on('exit', () => done())
  })
}

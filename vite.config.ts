import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'

/** Kinds of files that get smaller, and the least size at which that saves a packet. */
const compressible = new Set(['.css', '.html', '.js', '.svg'])
const leastBytes = 1_400

/**
 * Writes each file a second and a third time, compressed as far as it goes: browsers ask for brotli over TLS and for gzip
 * without. The daemon hands them out as they are (src/api/pages.ts).
 */
const compressed: Plugin = {
  name: 'compressed',
  writeBundle({ dir = '' }) {
    for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
      const file = join(entry.parentPath, entry.name)
      if (!entry.isFile() || !compressible.has(extname(file))) continue
      const content = readFileSync(file)
      if (content.length < leastBytes) continue
      writeFileSync(`${file}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }))
      writeFileSync(`${file}.br`, brotliCompressSync(content))
    }
  },
}

/** The first script (src/web/first.ts) asks before the large one is read; the browser is told of that one at once all the same. */
const announced: Plugin = {
  name: 'announced',
  transformIndexHtml: {
    order: 'post',
    handler(_html, { bundle = {} }) {
      const main = Object.values(bundle).find(
        (part) => part.type === 'chunk' && part.isDynamicEntry && part.name === 'main',
      )
      if (main === undefined) throw new Error('the build has no chunk named main: see src/web/first.ts')
      const attrs = { rel: 'modulepreload', crossorigin: true, href: `/${main.fileName}` }
      return [{ tag: 'link', attrs, injectTo: 'head' }]
    },
  },
}

// The pages that operators read: built files that the daemon serves itself. Nothing is fetched from elsewhere, and nothing is
// inlined, so that a strict Content-Security-Policy (self only) holds.
export default defineConfig({
  root: 'src/web',
  base: '/',
  publicDir: false,
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [announced, compressed],
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    // light-dark() as it is: browsers of 2024.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    reportCompressedSize: false,
  },
})

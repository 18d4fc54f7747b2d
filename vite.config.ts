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

// The pages that operators read: built files that the daemon serves itself. Nothing is fetched from elsewhere, and nothing is
// inlined, so that a strict Content-Security-Policy (self only) holds.
export default defineConfig({
  root: 'src/web',
  base: '/',
  publicDir: false,
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [compressed],
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

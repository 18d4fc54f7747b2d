import { defineConfig } from 'vite'

// The pages that operators read: built files that the daemon serves itself. Nothing is fetched from elsewhere, and nothing is
// inlined, so that a strict Content-Security-Policy (self only) holds.
export default defineConfig({
  root: 'src/web',
  base: '/',
  publicDir: false,
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
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

// Makes `npx lifeboat` work in a checkout: npm links the commands of dependencies, never the project's own.
import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'

const command = 'node_modules/.bin/lifeboat'
mkdirSync('node_modules/.bin', { recursive: true })
rmSync(command, { force: true })
symlinkSync('../../dist/main.js', command)
chmodSync('dist/main.js', 0o755)

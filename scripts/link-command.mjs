// Makes `npx lifeboat` work in a checkout: npm links the commands of dependencies, never the project's own.
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'

const command = 'node_modules/.bin/lifeboat'
mkdirSync('node_modules/.bin', { recursive: true })
rmSync(command, { force: true })
symlinkSync('../../dist/bundle/main.js', command)

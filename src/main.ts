#!/usr/bin/env node
/** The process: arguments in, exit code out. Everything else is in cli/ and daemon/. */
import process from 'node:process'
import { processTerminal, runCli } from './cli/index.ts'
import { createCommands } from './commands.ts'

process.exitCode = await runCli(process.argv.slice(2), processTerminal(), createCommands())

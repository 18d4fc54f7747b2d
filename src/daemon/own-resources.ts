/** What the daemon takes of its machine: memory, and room where its journal lies. Reads two files' sizes; never writes. */
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { OwnResources } from '../telemetry/telemetry.ts'
import { processMemory, type Memory } from '../control/memory-watch.ts'

/** Looked at for each scrape; what cannot be read (a disk that is gone) is left out rather than thrown. */
export function ownResources(journal: string, memory: Memory = processMemory()): OwnResources {
  return {
    memoryUsed: memory.rssBytes(),
    memoryLimit: memory.limitBytes,
    journalSize: bytes(
      () => statSync(journal).size + (statSync(`${journal}-wal`, { throwIfNoEntry: false })?.size ?? 0),
    ),
    journalFree: bytes(() => {
      const { bavail, bsize } = statfsSync(dirname(journal))
      return bavail * bsize
    }),
  }
}

function bytes(read: () => number): number | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

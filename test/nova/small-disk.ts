/** A small disk (a tmpfs) in a directory's place, which a test fills. */
import { execFileSync } from 'node:child_process'
import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export class SmallDisk {
  readonly #directory: string

  constructor(directory: string) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', directory])
    this.#directory = directory
  }

  fill(): void {
    const { bavail, bsize } = statfsSync(this.#directory)
    writeFileSync(this.#filler, Buffer.alloc(bavail * bsize))
  }

  free(): void {
    rmSync(this.#filler)
  }

  /** The directory itself again, though the disk may still be in use. */
  unmount(): void {
    execFileSync('umount', ['--lazy', this.#directory])
  }

  get #filler(): string {
    return join(this.#directory, 'filler')
  }
}

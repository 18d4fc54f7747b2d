/** Where the command line writes and who interrupts it, so that it can be tested without a terminal. */
import type { Paint } from './output/words.ts'

export interface Terminal {
  env: Record<string, string | undefined>
  stdout(text: string): void
  stderr(text: string): void
  /** Colours for standard output. */
  paint: Paint
  /** Null: standard output is a pipe, a file, or a terminal that can only print. */
  screen: Screen | null
  /** Ctrl-C, or a request to end, while something is watched. The returned function stops listening. */
  onInterrupt(listen: () => void): () => void
}

/** A terminal that can be drawn on. */
export interface Screen {
  size(): { columns: number; rows: number }
  onResize(listen: () => void): () => void
  /** `leave` before the process is stopped (ctrl-Z), `back` when it goes on. */
  onSuspend(act: { leave: () => void; back: () => void }): () => void
}

/** A terminal to draw on and a clock to turn by hand. */
import { styleText } from 'node:util'
import type { Terminal } from '../../src/cli/index.ts'
import { looks, type Paint } from '../../src/cli/output/words.ts'
import { wallNow } from './fake-commands.ts'

/** Time moves only when a test says so. */
export class HandClock {
  #now = 0
  readonly #waiting = new Set<{ at: number; fire: () => void }>()
  now = (): number => this.#now
  wall = (): number => wallNow + this.#now
  after = (delayMs: number, fire: () => void): (() => void) => {
    const entry = { at: this.#now + delayMs, fire }
    this.#waiting.add(entry)
    return () => void this.#waiting.delete(entry)
  }
  async pass(ms: number): Promise<void> {
    await settled()
    this.#now += ms
    for (const entry of [...this.#waiting]) if (entry.at <= this.#now && this.#waiting.delete(entry)) entry.fire()
    await settled()
  }
}

/** Whatever was about to happen has happened. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
}

/** Colours as a terminal gets them. */
export const coloured: Paint = (look, text) => styleText(looks[look], text, { validateStream: false })

/** What someone sees: the escape sequences that we send, obeyed. Any other one is an error. */
export class FakeScreen {
  columns: number
  rows: number
  lines: string[] = []
  alternate = false
  cursor = true
  /** Everything that was sent. */
  sent = ''
  readonly colours: string[] = []
  #line = 0
  #column = 0
  #saved: string[] = []
  #resized: (() => void)[] = []
  #interrupt: (() => void)[] = []
  suspend: { leave: () => void; back: () => void } | null = null

  constructor(columns = 80, rows = 24) {
    this.columns = columns
    this.rows = rows
  }

  get text(): string {
    return this.lines
      .map((line) => line.trimEnd())
      .join('\n')
      .trimEnd()
  }

  terminal(): Pick<Terminal, 'stdout' | 'paint' | 'screen' | 'onInterrupt'> {
    return {
      stdout: (text) => this.write(text),
      paint: coloured,
      onInterrupt: (listen) => {
        this.#interrupt.push(listen)
        return () => void (this.#interrupt = this.#interrupt.filter((one) => one !== listen))
      },
      screen: {
        size: () => ({ columns: this.columns, rows: this.rows }),
        onResize: (listen) => {
          this.#resized.push(listen)
          return () => void (this.#resized = this.#resized.filter((one) => one !== listen))
        },
        onSuspend: (act) => {
          this.suspend = act
          return () => void (this.suspend = null)
        },
      },
    }
  }

  resize(columns: number, rows: number): void {
    this.columns = columns
    this.rows = rows
    for (const listen of this.#resized) listen()
  }

  interrupt(): void {
    for (const listen of this.#interrupt) listen()
  }

  get listening(): boolean {
    return this.#interrupt.length > 0 || this.#resized.length > 0 || this.suspend !== null
  }

  write(text: string): void {
    this.sent += text
    const parts = text.matchAll(/\u001b\[(\??[\d;]*)([A-Za-z])|(\r)|(\n)|([^\u001b\r\n])/gu)
    for (const [, given = '', letter, carriage, newline, char] of parts) {
      if (carriage !== undefined) this.#column = 0
      else if (newline !== undefined) {
        this.#line += 1
        this.#column = 0
      } else if (char !== undefined) this.#put(char)
      else this.#obey(`${given}${letter ?? ''}`)
    }
  }

  #put(char: string): void {
    if (this.#column >= this.columns)
      throw new Error(`line ${this.#line} is wider than the screen: ${this.lines[this.#line]}`)
    const line = (this.lines[this.#line] ?? '').padEnd(this.#column)
    this.lines[this.#line] = line.slice(0, this.#column) + char + line.slice(this.#column + 1)
    this.#column += 1
  }

  #obey(sequence: string): void {
    const up = /^(\d+)A$/.exec(sequence)
    if (up !== null) this.#line = Math.max(0, this.#line - Number(up[1]))
    else if (sequence === 'H') this.#line = this.#column = 0
    else if (sequence === 'K') this.lines[this.#line] = (this.lines[this.#line] ?? '').slice(0, this.#column)
    else if (sequence === 'J') {
      this.lines[this.#line] = (this.lines[this.#line] ?? '').slice(0, this.#column)
      this.lines.length = this.#line + 1
    } else if (sequence === '?1049h') {
      this.alternate = true
      this.#saved = this.lines
      this.lines = []
    } else if (sequence === '?1049l') {
      this.alternate = false
      this.lines = this.#saved
    } else if (sequence === '?25h' || sequence === '?25l') this.cursor = sequence.endsWith('h')
    else if (sequence.endsWith('m')) this.colours.push(sequence)
    else if (!sequence.startsWith('?2026')) throw new Error(`unknown sequence ${sequence}`)
  }
}

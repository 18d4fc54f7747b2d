/** A page as frames, with a pointer that shows what is clicked, made into one picture that moves. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** Between two frames while something happens by itself. */
const betweenMs = 400
/** What is waited for longer does not come. */
const limitMs = 60_000

export class Film {
  #page
  #frames = []
  #pointer = { x: 0, y: 0 }

  constructor(page) {
    this.#page = page
  }

  /** What is on the page now, to be looked at for as long. */
  async still(showMs) {
    const content = await this.#page.screenshot()
    const last = this.#frames.at(-1)
    if (last !== undefined && content.equals(last.content)) last.showMs += showMs
    else this.#frames.push({ content, showMs })
  }

  /** What happens until that is there, so many times as quick. Throws when it does not come. */
  async until(target, times) {
    for (let waitedMs = 0; waitedMs < limitMs; waitedMs += betweenMs) {
      const there = (await target.count()) > 0
      await this.still(betweenMs / times)
      if (there) return
      await wait(betweenMs)
    }
    throw new Error(`in ${limitMs / 1_000} s there came no ${target}`)
  }

  /** The pointer goes there, and clicks. */
  async click(target) {
    await this.point(target)
    await target.click()
    await this.still(500)
  }

  /** The pointer goes there in a few frames. */
  async point(target) {
    await target.scrollIntoViewIfNeeded()
    const box = await target.boundingBox()
    const to = { x: box.x + Math.min(box.width / 2, 60), y: box.y + box.height / 2 }
    const from = this.#pointer
    for (const part of [0.35, 0.75, 1]) {
      const at = { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }
      await this.#page.evaluate(showPointer, at)
      await this.still(part === 1 ? 500 : 90)
    }
    this.#pointer = to
  }

  /** As WebP without loss: text stays sharp, and nothing of a frame shines through the next. */
  write(path) {
    const folder = mkdtempSync(join(tmpdir(), 'lifeboat-film-'))
    try {
      const frames = this.#frames.flatMap(({ content, showMs }, n) => {
        const file = join(folder, `${n}.png`)
        writeFileSync(file, content)
        return ['-d', `${Math.round(showMs)}`, '-lossless', '-m', '6', file]
      })
      execFileSync('img2webp', ['-loop', '0', '-min_size', ...frames, '-o', path], { stdio: 'ignore' })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** Runs in the page. A popover lies above dialogs too, if it is shown after them. */
function showPointer({ x, y }) {
  const { document } = globalThis
  let pointer = document.querySelector('#film-pointer')
  if (pointer === null) {
    const drawn = 'http://www.w3.org/2000/svg'
    pointer = document.createElement('div')
    pointer.id = 'film-pointer'
    pointer.popover = 'manual'
    const svg = document.createElementNS(drawn, 'svg')
    const path = document.createElementNS(drawn, 'path')
    for (const [name, value] of Object.entries({ width: 22, height: 28, viewBox: '0 0 22 28' }))
      svg.setAttribute(name, value)
    path.setAttribute('d', 'M2 2v20l5-4 3.5 8 3.5-1.6-3.4-7.6H17z')
    for (const [name, value] of Object.entries({ fill: '#111', stroke: '#fff', 'stroke-width': 1.8 }))
      path.setAttribute(name, value)
    svg.append(path)
    pointer.append(svg)
    const style = { position: 'fixed', inset: 'auto', margin: '0', padding: '0', border: '0', background: 'none' }
    Object.assign(pointer.style, { ...style, overflow: 'visible', pointerEvents: 'none' })
    document.body.append(pointer)
  }
  Object.assign(pointer.style, { left: `${x}px`, top: `${y}px` })
  if (pointer.matches(':popover-open')) pointer.hidePopover()
  pointer.showPopover()
}

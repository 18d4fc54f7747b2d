/** Says things to screen readers, politely: progress and what came of an act, which everyone sees. For all pages. */
import { useEffect, useState } from 'preact/hooks'
import { after } from '../browser-clock.ts'

interface Said {
  text: string
  /** Shown for a while, too. */
  seen: boolean
}

let say: (said: Said) => void = () => undefined

/** Shorter is missed by someone who looks at the dialog that has just closed; longer covers what stands below. */
const seenForMs = 6_000

/** The newest text wins, of those that are seen and of those that are not: nobody wants to hear each of two thousand instances. */
export function announce(text: string, { seen = false } = {}): void {
  say({ text, seen })
}

/** A region for each: progress that is only spoken must not take away what someone is reading, which is said nowhere else. */
export function Announcer() {
  const [spoken, setSpoken] = useState('')
  const [shown, setShown] = useState<Said | null>(null)
  useEffect(() => {
    say = (said) => (said.seen ? setShown(said) : setSpoken(said.text))
    return () => (say = () => undefined)
  }, [])
  useEffect(() => (shown === null ? undefined : after(seenForMs, () => setShown(null))), [shown])
  return (
    <>
      <div class="visually-hidden" role="status" aria-live="polite">
        {spoken}
      </div>
      <div class={shown === null ? 'visually-hidden' : 'toast'} role="status" aria-live="polite">
        {shown?.text}
      </div>
    </>
  )
}

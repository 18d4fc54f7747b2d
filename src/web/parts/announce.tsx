/** Says things to screen readers, politely: progress and what came of an act, which everyone sees. One region for all pages. */
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

/** The newest text wins: nobody wants to hear each of two thousand instances. */
export function announce(text: string, { seen = false } = {}): void {
  say({ text, seen })
}

export function Announcer() {
  const [{ text, seen }, setSaid] = useState<Said>({ text: '', seen: false })
  useEffect(() => {
    say = setSaid
    return () => (say = () => undefined)
  }, [])
  useEffect(() => (seen ? after(seenForMs, () => setSaid({ text: '', seen: false })) : undefined), [text, seen])
  return (
    <div class={seen && text !== '' ? 'toast' : 'visually-hidden'} role="status" aria-live="polite">
      {text}
    </div>
  )
}

/** Says things to screen readers, politely: progress and what came of an act. One region for all pages. */
import { useEffect, useState } from 'preact/hooks'

let say: (text: string) => void = () => undefined

/** The newest text wins: nobody wants to hear each of two thousand instances. */
export function announce(text: string): void {
  say(text)
}

export function Announcer() {
  const [text, setText] = useState('')
  useEffect(() => {
    say = setText
    return () => (say = () => undefined)
  }, [])
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {text}
    </div>
  )
}

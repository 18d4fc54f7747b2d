/** Paper shows everything, and the browser takes its picture as soon as we return: what was left out is drawn at once. */
import { options } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** True while the page is being printed. */
export function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false)
  useOnPrint(setPrinting)
  return printing
}

/** Calls with true before the page is printed, and with false afterwards; what it changes is drawn before it returns. */
export function useOnPrint(change: (printing: boolean) => void): void {
  const latest = useRef(change)
  latest.current = change
  useEffect(() => {
    const before = (): void => atOnce(() => latest.current(true))
    const behind = (): void => atOnce(() => latest.current(false))
    addEventListener('beforeprint', before)
    addEventListener('afterprint', behind)
    return () => {
      removeEventListener('beforeprint', before)
      removeEventListener('afterprint', behind)
    }
  }, [])
}

function atOnce(change: () => void): void {
  const before = { ...options }
  options.debounceRendering = (render) => render()
  change()
  if (before.debounceRendering === undefined) delete options.debounceRendering
  else Object.assign(options, before)
}

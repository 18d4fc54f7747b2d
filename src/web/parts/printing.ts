/** Paper shows everything, and the browser takes its picture as soon as we return: what was left out is drawn at once. */
import { options } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** For what is drawn only because the page is being printed. Known before any part of the page is told. */
let underWay = false
addEventListener('beforeprint', () => (underWay = true))
addEventListener('afterprint', () => (underWay = false))

/** True while the page is being printed. */
export function usePrinting(): boolean {
  const [printing, setPrinting] = useState(underWay)
  useEffect(() => {
    const before = (): void => atOnce(() => setPrinting(true))
    const behind = (): void => atOnce(() => setPrinting(false))
    addEventListener('beforeprint', before)
    addEventListener('afterprint', behind)
    return () => {
      removeEventListener('beforeprint', before)
      removeEventListener('afterprint', behind)
    }
  }, [])
  return printing
}

function atOnce(change: () => void): void {
  const before = { ...options }
  options.debounceRendering = (render) => render()
  change()
  if (before.debounceRendering === undefined) delete options.debounceRendering
  else Object.assign(options, before)
}

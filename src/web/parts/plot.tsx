/** A plot: uPlot, loaded only where one is shown. Its table beside it says the same to those who do not see it. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { beforePaint } from '../browser-clock.ts'
import { Empty } from './states.tsx'

interface PlotProps {
  /** Said to screen readers instead of the picture. */
  label: string
  height: number
  data: uPlot.AlignedData
  /** With the colours of now: called again when the theme changes. */
  options: (colours: Colours) => Omit<uPlot.Options, 'width' | 'height'>
}

export interface Colours {
  text: string
  grid: string
  good: string
  bad: string
  wait: string
  live: string
  faint: string
}

function coloursNow(): Colours {
  const style = getComputedStyle(document.documentElement)
  const read = (name: string): string => {
    const probe = document.createElement('span')
    probe.style.color = `var(${name})`
    document.body.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color === '' ? style.color : color
  }
  return {
    text: read('--muted'),
    grid: read('--line'),
    good: read('--good'),
    bad: read('--bad'),
    wait: read('--wait'),
    live: read('--live'),
    faint: read('--faint'),
  }
}

export function Plot({ label, height, data, options }: PlotProps) {
  const holder = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const [missing, setMissing] = useState(false)
  const newest = useRef(data)
  newest.current = data
  useEffect(() => {
    const element = holder.current
    if (element === null) return undefined
    let over = false
    let library: typeof uPlot | null = null
    const draw = (): void => {
      if (over || library === null) return
      plot.current?.destroy()
      const own = options(coloursNow())
      plot.current = new library({ ...own, width: element.clientWidth, height }, newest.current, element)
    }
    const resize = new ResizeObserver(() => {
      beforePaint(() => {
        if (!over && plot.current?.width !== element.clientWidth)
          plot.current?.setSize({ width: element.clientWidth, height })
      })
    })
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const theme = new MutationObserver(draw)
    Promise.all([import('uplot'), import('uplot/dist/uPlot.min.css')]).then(
      ([module]) => {
        if (over) return
        library = module.default
        draw()
        resize.observe(element)
        scheme.addEventListener('change', draw)
        theme.observe(document.documentElement, { attributeFilter: ['data-theme'] })
      },
      // The daemon is gone, or is a newer one that has another file in its place.
      () => setMissing(true),
    )
    return () => {
      over = true
      resize.disconnect()
      scheme.removeEventListener('change', draw)
      theme.disconnect()
      plot.current?.destroy()
      plot.current = null
    }
  }, [height, options])
  useEffect(() => plot.current?.setData(data), [data])
  if (missing) return <Empty>The plot could not be loaded. Reload the page, or read the tables below.</Empty>
  return <div class="plot" ref={holder} role="img" aria-label={label} style={{ minHeight: `${height}px` }} />
}

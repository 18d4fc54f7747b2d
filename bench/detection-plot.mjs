/** The trade-off of detectors as a picture: time to the verdict against false alarms. Plain SVG, no library. */
import { percentile } from './figures.mjs'

const size = { width: 760, height: 440, left: 76, right: 24, top: 52, bottom: 58 }
const colours = ['#b45309', '#64748b', '#0f766e', '#be123c']
/** Below the axis' end: none were seen. */
const decades = [0.1, 1, 10, 100, 1_000, 10_000, 100_000]

/** @param points { family, threshold, perThousand, latenciesMs }[] */
export function tradeOffPlot(points) {
  const most = Math.ceil(Math.max(...points.map(medianSeconds)) / 10) * 10
  const x = (seconds) => size.left + (seconds / most) * (size.width - size.left - size.right)
  const top = decades.find((decade) => decade >= Math.max(...points.map(({ perThousand }) => perThousand))) ?? 1e5
  const shown = decades.filter((decade) => decade <= top)
  const low = Math.log10(shown[0])
  const y = (alarms) => {
    const share = (Math.log10(Math.max(alarms, shown[0])) - low) / (Math.log10(top) - low)
    return size.height - size.bottom - share * (size.height - size.top - size.bottom)
  }
  const families = [...new Set(points.map(({ family }) => family))]
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" font-family="sans-serif" font-size="12" role="img" aria-label="False alarms of a detector without probes, against its time to a verdict">`,
    `<rect width="${size.width}" height="${size.height}" fill="#ffffff"/>`,
    text(size.left, 24, 'What a detector trades: false alarms against time', 'font-size="15" font-weight="bold"'),
    text(
      size.left,
      41,
      'detectors alone, without any probe; regular, jittering, pausing, slow and losing hosts; heartbeats of 10 s',
      'fill="#475569"',
    ),
    ...axes(x, y, most, shown),
    ...families.flatMap((family, n) =>
      curve(
        points.filter((point) => point.family === family),
        colours[n],
        x,
        y,
      ),
    ),
    ...families.map((family, n) => legend(family, n)),
    '</svg>',
  ].join('\n')}\n`
}

const medianSeconds = ({ latenciesMs }) => percentile(latenciesMs, 0.5) / 1_000

function axes(x, y, most, shown) {
  const lines = []
  for (let seconds = 0; seconds <= most; seconds += 10) {
    lines.push(line(x(seconds), size.top, x(seconds), size.height - size.bottom, '#e2e8f0'))
    lines.push(text(x(seconds), size.height - size.bottom + 18, String(seconds), 'text-anchor="middle" fill="#475569"'))
  }
  for (const decade of shown) {
    const label = decade === shown[0] ? 'none' : decade.toLocaleString('en-US')
    lines.push(line(size.left, y(decade), size.width - size.right, y(decade), '#e2e8f0'))
    lines.push(text(size.left - 8, y(decade) + 4, label, 'text-anchor="end" fill="#475569"'))
  }
  const middle = (size.top + size.height - size.bottom) / 2
  lines.push(text(size.width / 2, size.height - 16, 'seconds from death to alarm, median', 'text-anchor="middle"'))
  lines.push(
    text(18, middle, 'false alarms per 1,000 host-days', `text-anchor="middle" transform="rotate(-90 18 ${middle})"`),
  )
  return lines
}

function curve(points, n, x, y) {
  const colour = colours[n]
  // The last family is one point that lies among the others.
  const above = n === 3 ? 18 : 5
  const at = points.map((point) => ({ ...point, x: x(medianSeconds(point)), y: y(point.perThousand) }))
  const path = at
    .map((point, first) => `${first === 0 ? 'M' : 'L'}${point.x.toFixed(1)} ${point.y.toFixed(1)}`)
    .join('')
  return [
    `<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
    ...at.flatMap((point) => [
      `<circle cx="${point.x.toFixed(1)}" cy="${point.y.toFixed(1)}" r="3.5" fill="${colour}"/>`,
      text(point.x + 6, point.y - above, point.threshold, `fill="${colour}" font-size="11"`),
    ]),
  ]
}

function legend(family, n) {
  const [x, y] = [size.width - size.right - 210, size.top + 16 + n * 18]
  return `<rect x="${x}" y="${y - 9}" width="10" height="10" fill="${colours[n]}"/>${text(x + 16, y, family, 'fill="#0f172a"')}`
}

function line(x1, y1, x2, y2, colour) {
  return `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" stroke="${colour}"/>`
}

function text(x, y, what, more = '') {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${what.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</text>`
}

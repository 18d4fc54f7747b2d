/** The numbers to reach, and one line of the table. A figure is printed beside its target; it is never asserted. */

/**
 * @param line { row, what, where, value, unit, digits, target }: `target` is the most that is wanted, or null; `value` a
 * number, or null when it was not measured; `note` says how it was measured or why it was not
 */
export function figure({ digits = 1, unit = '', target = null, note = '', ...line }) {
  const { value } = line
  const reached = target === null || value === null ? null : value <= target
  return { ...line, unit, digits, target, note, reached }
}

/** The table, as text. */
export function table(figures) {
  const rows = [
    ['', 'What', 'Where', 'Measured', 'Target', ''],
    ...figures.map((at) => [at.row, at.what, at.where, shown(at, at.value), limit(at), verdict(at)]),
  ]
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  )
  const notes = figures.filter(({ note }) => note !== '').map(({ row, where, note }) => `  ${row} ${where}: ${note}`)
  return [lines[0], widths.map((width) => '-'.repeat(width)).join('  '), ...lines.slice(1), '', ...notes].join('\n')
}

function shown({ unit, digits }, value) {
  return value === null ? 'not measured' : `${value.toFixed(digits)} ${unit}`.trimEnd()
}

function limit(at) {
  return at.target === null ? '' : `<= ${shown({ ...at, digits: Number.isInteger(at.target) ? 0 : 2 }, at.target)}`
}

function verdict({ reached }) {
  return reached === null ? '' : reached ? 'reached' : 'missed'
}

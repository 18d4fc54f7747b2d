/**
 * A table of thousands of rows of which only those near the screen exist. It stays a table: rows know their number, headings
 * sort, a row is reached by its link. Every row has the same height, which the style sheet sets for each width of screen.
 */
import { Component, type ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { beforePaint } from '../browser-clock.ts'
import { useOnPrint } from './printing.ts'

export interface Column<Row> {
  key: string
  title: string
  cell: (row: Row) => ComponentChildren
  sort?: boolean
}

export interface Sorting {
  key: string
  down: boolean
}

interface LongTableProps<Row> {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  sorting: Sorting
  onSort: (sorting: Sorting) => void
  rowClass?: (row: Row) => string
}

/** Up to so many rows all exist, so that the browser's own search finds them. More cost time with each change. */
const wholeUpTo = 150
/** Rows kept beyond the screen. Fewer show a blank edge while scrolling fast; more cost time with each change. */
const overscan = 12
/** The window moves in steps of so many rows, so that slow scrolling draws nothing again. */
const stride = 8

export function LongTable<Row>(props: LongTableProps<Row>) {
  const { caption, columns, rows, rowKey, sorting, onSort, rowClass } = props
  const body = useRef<HTMLTableSectionElement>(null)
  const { first, last, height } = useWindow(body, rows.length)
  const shown = rows.slice(first, last)
  return (
    <table class="long-table" role="table" aria-rowcount={rows.length + 1}>
      <caption class="visually-hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row" aria-rowindex={1}>
          {columns.map((column) => (
            <Heading key={column.key} column={column} sorting={sorting} onSort={onSort} />
          ))}
        </tr>
      </thead>
      <tbody ref={body} role="rowgroup">
        <Gap height={first * height} columns={columns.length} />
        {shown.map((row, index) => (
          <TableRow
            key={rowKey(row)}
            row={row}
            number={first + index + 2}
            columns={columns as readonly Column<unknown>[]}
            kind={rowClass?.(row) ?? ''}
          />
        ))}
        <Gap height={(rows.length - last) * height} columns={columns.length} />
      </tbody>
    </table>
  )
}

function Heading<Row>({
  column,
  sorting,
  onSort,
}: {
  column: Column<Row>
  sorting: Sorting
  onSort: (sorting: Sorting) => void
}) {
  const active = sorting.key === column.key
  const direction = active ? (sorting.down ? 'descending' : 'ascending') : 'none'
  if (column.sort === false)
    return (
      <th scope="col" role="columnheader" class={column.key}>
        {column.title}
      </th>
    )
  return (
    <th scope="col" role="columnheader" class={column.key} aria-sort={direction}>
      <button type="button" class="sort" onClick={() => onSort({ key: column.key, down: active && !sorting.down })}>
        {column.title}
        <span aria-hidden="true" class="arrow">
          {active ? (sorting.down ? '↓' : '↑') : ''}
        </span>
      </button>
    </th>
  )
}

/** The room of rows that do not exist. */
function Gap({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null
  return (
    <tr class="gap" aria-hidden="true" role="presentation">
      <td colSpan={columns} role="presentation" style={{ height: `${height}px` }} />
    </tr>
  )
}

interface RowProps {
  row: unknown
  number: number
  columns: readonly Column<unknown>[]
  kind: string
}

/** Drawn again only when its own row changed: an event about one instance must not cost the drawing of a hundred. */
class TableRow extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    const { row, number, columns, kind } = this.props
    return next.row !== row || next.number !== number || next.columns !== columns || next.kind !== kind
  }

  override render({ row, number, columns, kind }: RowProps) {
    return (
      <tr role="row" aria-rowindex={number} class={kind}>
        {columns.map(({ key, cell }) => (
          <td key={key} role="cell" class={key}>
            {cell(row)}
          </td>
        ))}
      </tr>
    )
  }
}

/** Which rows are near the screen. Measures once per frame at the most, and never writes while it measures. */
function useWindow(body: { current: HTMLElement | null }, count: number) {
  const [view, setView] = useState({ first: 0, last: Math.min(count, count <= wholeUpTo ? wholeUpTo : 40), height: 56 })
  const printing = useRef(false)
  const look = (): void => {
    const element = body.current
    if (element === null) return
    const row = element.querySelector<HTMLElement>('tr:not(.gap)')
    const height = row === null ? 56 : row.getBoundingClientRect().height || 56
    const top = -element.getBoundingClientRect().top
    const from = Math.floor(top / height / stride) * stride - overscan
    const whole = printing.current || count <= wholeUpTo
    const first = whole ? 0 : Math.max(0, Math.min(from, count))
    const visible = Math.ceil(innerHeight / height) + 2 * overscan + stride
    const last = whole ? count : Math.max(first, Math.min(count, from + visible))
    setView((old) =>
      old.first === first && old.last === last && Math.abs(old.height - height) < 0.5 ? old : { first, last, height },
    )
  }
  const latest = useRef(look)
  latest.current = look
  useOnPrint((on) => {
    printing.current = on
    latest.current()
  })
  // A table that exists as a whole needs no measuring, which would have the browser lay out the page before it may be shown.
  useLayoutEffect(() => {
    if (count > wholeUpTo || view.first > 0 || view.last < count) latest.current()
  }, [count])
  useEffect(() => {
    let cancel: (() => void) | null = null
    const soon = (): void => {
      cancel ??= beforePaint(() => {
        cancel = null
        latest.current()
      })
    }
    addEventListener('scroll', soon, { passive: true })
    addEventListener('resize', soon)
    return () => {
      cancel?.()
      removeEventListener('scroll', soon)
      removeEventListener('resize', soon)
    }
  }, [])
  return { first: Math.min(view.first, count), last: Math.min(view.last, count), height: view.height }
}

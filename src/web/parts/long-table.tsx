/**
 * A table of thousands of rows, each of which exists, so that the browser's own search finds it. The browser draws only those near the
 * screen (`content-visibility` in tables.css). It stays a table: rows know their number, headings sort, a row is reached by its link.
 */
import { Component, type ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { beforePaint } from '../browser-clock.ts'
import { counted } from '../words/count.ts'
import { usePrinting } from './printing.ts'

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
  /** How wide its columns are stands in tables.css. */
  kind: 'instances' | 'plan' | 'hosts'
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  sorting: Sorting
  onSort: (sorting: Sorting) => void
  rowClass?: (row: Row) => string
}

/** Rows made before the first paint: as many as no screen shows more of. Fewer show blank room; more keep the page waiting. */
const screenful = 30
/** Rows made in each frame after that. Fewer take longer until the search finds all; more hold up a frame that someone waits for. */
const rowsAFrame = 300
/** Rows made before someone asks for more, and then with each press. More cost time with each change. */
const pageSize = 3_000

export function LongTable<Row>(props: LongTableProps<Row>) {
  const { kind, caption, columns, rows, rowKey, sorting, onSort, rowClass } = props
  const [limit, setLimit] = useState(pageSize)
  const shown = useSoonAll(rows, limit)
  return (
    <>
      <table class={`long-table ${kind}`} role="table" aria-rowcount={rows.length + 1}>
        <caption class="visually-hidden">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row" aria-rowindex={1}>
            {columns.map((column) => (
              <Heading key={column.key} column={column} sorting={sorting} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {shown.map((row, index) => (
            <TableRow
              key={rowKey(row)}
              row={row}
              number={index + 2}
              columns={columns as readonly Column<unknown>[]}
              kind={rowClass?.(row) ?? ''}
            />
          ))}
        </tbody>
      </table>
      {rows.length > limit && (
        <button type="button" class="quiet" onClick={() => setLimit(limit + pageSize)}>
          Show more ({counted(rows.length - limit, 'row')} left)
        </button>
      )}
    </>
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

interface RowProps {
  row: unknown
  number: number
  columns: readonly Column<unknown>[]
  kind: string
}

/** Drawn again only when its own row changed: an event about one instance must not cost the drawing of thousands. */
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

/** A screenful first, and from frame to frame more, up to `limit`. Paper has all. */
function useSoonAll<Row>(rows: readonly Row[], limit: number): readonly Row[] {
  const [made, setMade] = useState(screenful)
  const printing = usePrinting()
  const wanted = Math.min(rows.length, limit)
  useEffect(() => {
    if (made < wanted) return beforePaint(() => setMade(Math.min(made + rowsAFrame, wanted)))
    // After a search that left few, the others come back as they came at first.
    setMade(Math.max(wanted, screenful))
    return undefined
  }, [made, wanted])
  return printing ? rows : rows.slice(0, made)
}

/** A short table of different things; on a narrow screen each row is a card, and its cells say their titles themselves. */
import type { ComponentChildren } from 'preact'

interface TitledTableProps {
  caption: string
  titles: readonly string[]
  children: ComponentChildren
}

export function TitledTable({ caption, titles, children }: TitledTableProps) {
  return (
    <table class="list titled" role="table">
      <caption class="visually-hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {titles.map((title) => (
            <th key={title} role="columnheader" scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">{children}</tbody>
    </table>
  )
}

export function Row({ children, tone }: { children: ComponentChildren; tone?: string }) {
  return (
    <tr role="row" class={tone}>
      {children}
    </tr>
  )
}

/** @param props.title said on a narrow screen only, where the value alone says too little */
export function Cell({ title, children }: { title?: string | undefined; children: ComponentChildren }) {
  return (
    <td role="cell" data-title={title}>
      {children}
    </td>
  )
}

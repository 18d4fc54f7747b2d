/**
 * lifeboat-workflow(5), from recovery-workflows/README.md: one text, read in two places. Knows the Markdown that stands there
 * (headings, paragraphs, lists, tables, code) and no other.
 */
import { literal, page, plain, term } from './scdoc.ts'

export function workflowPage(markdown: string): string {
  const [intro = '', ...sections] = markdown.split(/^## /m)
  const body = sections.map((text): [string, string] => {
    const [heading = '', ...lines] = text.split('\n')
    return [heading.toUpperCase(), blocks(lines.join('\n'))]
  })
  return page('lifeboat-workflow', 5, [
    ['NAME', 'lifeboat-workflow - recovery workflows of Lifeboat'],
    ['SYNOPSIS', '_/usr/lib/lifeboat/recovery-workflows/_'],
    ['DESCRIPTION', blocks(intro.replace(/^# .*\n/, ''))],
    ...body,
    ['SEE ALSO', '*lifeboat*(1), *lifeboat*(8), *lifeboat.yaml*(5)'],
  ])
}

function blocks(markdown: string): string {
  return markdown
    .trim()
    .split(/\n{2,}/)
    .map(block)
    .join('\n\n')
}

function block(text: string): string {
  if (text.startsWith('    ')) return literal(text.replace(/^ {4}/gm, '')).trimEnd()
  if (text.startsWith('|')) return table(text)
  if (/^\d+\. /.test(text)) return items(text, /^\d+\. /m, '. ')
  if (/^[*-] /.test(text)) return items(text, /^[*-] /m, '- ')
  return inline(text)
}

function items(text: string, mark: RegExp, sign: string): string {
  return text
    .split(new RegExp(mark.source, 'gm'))
    .filter((item) => item.trim() !== '')
    .map((item) => `${sign}${inline(item.trim().replace(/\s*\n\s*/g, ' '))}`)
    .join('\n')
}

/** A row is a term with what it means: tables with borders are hard to read in a terminal of 80 columns. */
function table(text: string): string {
  const rows = text
    .split('\n')
    .map((line) => line.replace(/^\| ?| ?\|$/g, '').split(/ \| ?/))
    .filter((cells) => !/^-+$/.test((cells[0] ?? '').replace(/[-| ]/g, '-')))
  const [head = [], ...body] = rows
  return body
    .map((cells) => {
      const [name = '', ...rest] = cells.map((cell) => cell.trim())
      const type = head.length > 2 ? `(${rest.shift() ?? ''}) ` : ''
      return term(inline(name), inline(`${type}${rest.join(' ')}`.trim()) || '.')
    })
    .join('\n')
    .trimEnd()
}

/** `code` is bold, [links](to) are their text. */
function inline(text: string): string {
  return text
    .split(/(`[^`]+`|\[[^\]]+\]\([^)]+\))/)
    .map((part) => {
      if (part.startsWith('`')) return `*${plain(part.slice(1, -1))}*`
      const link = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(part)
      return link === null ? plain(part) : `${plain(link[1] ?? '')} (${plain(link[2] ?? '')})`
    })
    .join('')
}

/** Who writes a filter of a receiver finds every topic in the table of docs/notices.md. */
import { expect, it } from 'vitest'
import { noticeTopics } from '../../src/domain/notice.ts'
import { textOf } from './files.ts'

const table = textOf('docs/notices.md')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|')[1] ?? '')

it.each(Object.keys(noticeTopics).filter((topic) => topic !== 'test'))('%s has its row', (topic) => {
  expect(table.some((cell) => cell.includes(`\`${topic}\``))).toBe(true)
})

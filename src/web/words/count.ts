/** Numbers in sentences. */
import type { HostCount } from '../../domain/brake.ts'

const grouped = new Intl.NumberFormat('en-GB')

/** 2,000 */
export function number(value: number): string {
  return grouped.format(value)
}

/** 1 host, 2,000 hosts */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`
}

/** The whole as text, for looking through it. */
export function matches(text: string, wanted: string): boolean {
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

/** What is on a host whose instances Lifeboat has not listed yet: 34 instances, 30 running, 3 projects. */
export function onHostText(count: HostCount | null | undefined): string {
  if (count === undefined) return 'not listed yet'
  if (count === null) return 'counting…'
  const { instances, running, projects } = count
  return `${counted(instances, 'instance')}, ${number(running)} running, ${counted(projects, 'project')}`
}

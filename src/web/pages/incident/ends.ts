/**
 * How an instance stands, in a word: its outcome; in an incident that was only observed, what the plan says would have been. Two
 * that would have gone different ways are two kinds, though nothing was done with either. Pure.
 */
import type { InstanceId } from '../../../domain/instance.ts'
import { outcomes, type OutcomeKind } from '../../../domain/outcome.ts'
import type { IncidentReview, InstanceLine } from '../../../domain/review.ts'
import { outcomeTone, type Tone } from '../../../domain/text/tone.ts'
import { whyOf } from './words.ts'

export type End = OutcomeKind | 'open' | 'would-hold' | 'would-leave' | 'would-recover'

interface Words {
  word: string
  tone: Tone
  /** For people who do not know the word. */
  means: string
}

/** The most urgent first. */
export const ends: Record<End, Words> = {
  stuck: { word: 'stuck', tone: outcomeTone.stuck, means: outcomes.stuck },
  failed: { word: 'failed', tone: outcomeTone.failed, means: outcomes.failed },
  'would-hold': { word: 'would be held', tone: 'bad', means: 'A person would have to decide' },
  left: { word: 'left', tone: outcomeTone.left, means: outcomes.left },
  'would-leave': { word: 'would be left', tone: 'wait', means: 'It would stay where it is, for the reason shown' },
  open: { word: 'open', tone: outcomeTone.open, means: 'No outcome yet' },
  'would-recover': { word: 'would be recovered', tone: 'plain', means: 'Nothing was sent: the daemon only observes' },
  recovered: { word: 'recovered', tone: outcomeTone.recovered, means: outcomes.recovered },
}

export const endOrder = Object.keys(ends) as End[]

/** Those that nobody has to ask about: back, on the way, or only not sent. */
export function isFine(end: End): boolean {
  return end === 'recovered' || end === 'open' || end === 'would-recover'
}

const wouldBe = { hold: 'would-hold', leave: 'would-leave', recover: 'would-recover' } as const

export function endOf({ outcome, decision }: InstanceLine, mode: IncidentReview['mode']): End {
  return outcome === 'open' && mode === 'observe' ? wouldBe[decision] : outcome
}

export interface Group {
  end: End
  code: string
  /** Empty when the members' sentences differ: one that names an instance says nothing of the others. */
  message: string
  count: number
  members: InstanceId[]
}

/** Instances by how they stand and why, the most urgent first. */
export function groupsOf({ lines, mode }: Pick<IncidentReview, 'lines' | 'mode'>): Group[] {
  const groups = new Map<string, Group>()
  for (const line of lines) {
    const { code, message } = whyOf(line)
    const end = endOf(line, mode)
    const group = groups.get(`${end} ${code}`)
    if (group === undefined) groups.set(`${end} ${code}`, { end, code, message, count: 1, members: [line.id] })
    else {
      group.count += 1
      group.members.push(line.id)
      if (group.message !== message) group.message = ''
    }
  }
  return [...groups.values()].sort((a, b) => endOrder.indexOf(a.end) - endOrder.indexOf(b.end) || b.count - a.count)
}

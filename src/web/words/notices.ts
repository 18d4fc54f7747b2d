/** How notices and their receivers are said and coloured. */
import type { ReceiverHealth } from '../../domain/notice.ts'
import type { NoticeState } from '../../domain/notice-record.ts'
import type { Tone } from './tone.ts'

export const noticeTone: Record<NoticeState, Tone> = { waiting: 'plain', retrying: 'wait', sent: 'good', dead: 'bad' }

export function receiverStanding({ dead, failingSince, takenAt }: ReceiverHealth): { text: string; tone: Tone } {
  if (dead) return { text: 'takes nothing', tone: 'bad' }
  if (failingSince !== null) return { text: 'failing', tone: 'wait' }
  return takenAt === null ? { text: 'not tried yet', tone: 'plain' } : { text: 'takes notices', tone: 'good' }
}

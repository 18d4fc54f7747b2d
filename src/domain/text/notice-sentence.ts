/** Entries about notices as sentences, for the log, the report and the command line. */
import type { Entry } from '../entry.ts'
import { span } from './span.ts'

type NoticeEntry = Extract<Entry, { kind: `notice.${string}` }>

export function noticeSentence(entry: NoticeEntry): string {
  switch (entry.kind) {
    case 'notice.queued': {
      const { topic, receivers, project, instanceCount } = entry.data
      const whose = project === null ? '' : ` about ${instanceCount ?? 0} instances of project ${project}`
      return `Notice ${topic}${whose} for ${receivers.join(', ')}`
    }
    case 'notice.sent': {
      const { receiver, attempt, result } = entry.data
      return `Notice sent to ${receiver}${attempt > 1 ? ` at try ${attempt}` : ''} (${result})`
    }
    case 'notice.failed': {
      const { receiver, attempt, problem, retryInMs } = entry.data
      return `Notice not sent to ${receiver}, try ${attempt}: ${problem}; next try in ${span(retryInMs)}`
    }
    case 'notice.dead-lettered': {
      const { receiver, attempts, message } = entry.data
      return `Notice for ${receiver} given up after ${attempts} ${attempts === 1 ? 'try' : 'tries'}: ${message}`
    }
  }
}

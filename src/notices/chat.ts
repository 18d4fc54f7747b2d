/** Chat rooms: the shape that incoming webhooks of Slack, Mattermost, Rocket.Chat and others take. */
import type { Notice, NoticeSeverity } from '../domain/notice.ts'
import type { Deliver } from './delivery.ts'
import type { Post } from './post.ts'
import { linkTo } from '../domain/page-link.ts'
import { fromCloud, worded, type Setting, type Texts } from './texts.ts'

/** Longer texts are cut off by Mattermost (16,383) and refused by Slack (40,000). As it is sent: a name may be all entities. */
const longestText = 12_000

const colours: Record<NoticeSeverity, string> = { info: '#2e7d32', warning: '#b26a00', critical: '#b3261e' }

export function chat({ post, texts, setting }: { post: Post; texts: Texts; setting: Setting }): Deliver {
  return ({ notice, signal }) =>
    post(JSON.stringify(chatMessage(notice, texts, setting)), { 'idempotency-key': notice.id }, signal)
}

export function chatMessage(notice: Notice, texts: Texts, setting: Setting): Record<string, unknown> {
  const { subject, text } = worded(notice, texts, setting)
  const link = notice.audience === 'operator' ? linkTo(setting.link, notice) : null
  const title = plain(fromCloud(subject, notice, setting.cloud))
  return {
    text: title,
    attachments: [
      {
        ...{ fallback: title, color: colours[notice.severity], title, text: cut(plain(text)) },
        ...(link !== null && { title_link: link }),
        mrkdwn_in: [],
      },
    ],
  }
}

/**
 * Names of instances are their owners': none may call a whole room, pose as a link or as markup. Slack takes the three
 * entities; a word joiner after @ keeps Mattermost from taking it for a mention, and one after ] from taking [this](address)
 * for a link or ![that] for a picture to fetch.
 */
function plain(text: string): string {
  return text
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/@(?=\w)|\](?=\s*[([:])/g, '$&\u2060')
}

/** Never in the middle of an entity or of a character. */
function cut(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText).replace(/&\w*$|[\ud800-\udbff]$/, '')} …`
}

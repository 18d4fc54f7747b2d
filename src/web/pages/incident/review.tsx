/** What people said of it: notes, and the sign-off. */
import type { IncidentReview } from '../../../domain/review.ts'
import { Empty } from '../../parts/states.tsx'
import { Tag, Time } from '../../parts/text.tsx'
import { link } from '../../router.ts'

export function ReviewPart({ review: { notes, signOff } }: { review: IncidentReview }) {
  return (
    <>
      {signOff !== null ? (
        <div class="notice good">
          <strong>
            Signed off by {signOff.by}, <Time at={signOff.at} />
          </strong>
          <p>{signOff.text}</p>
        </div>
      ) : (
        <p class="under">
          <Tag tone="wait">not signed off</Tag> Nobody has signed off this incident yet.
        </p>
      )}
      {notes.length === 0 ? (
        <Empty>No notes.</Empty>
      ) : (
        <ol class="notes">
          {notes.map((note) => (
            <li key={note.seq}>
              <p class="under">
                <strong>{note.by}</strong>, <Time at={note.at} />{' '}
                <a href={link.journal({ seq: String(note.seq) })}>#{note.seq}</a>
              </p>
              <p class="note-text">{note.text}</p>
            </li>
          ))}
        </ol>
      )}
    </>
  )
}

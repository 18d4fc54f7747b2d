/** What people say of it: notes at any time, the sign-off once it is over; and the record to take away. */
import type { IncidentReview } from '../../../domain/review.ts'
import { paths } from '../../api/paths.ts'
import { ActButton, type Act } from '../../parts/act.tsx'
import { Empty } from '../../parts/states.tsx'
import { Tag, Time } from '../../parts/text.tsx'
import { link } from '../../router.ts'

export function ReviewPart({ review, onDone }: { review: IncidentReview; onDone: () => void }) {
  const { id, notes, signOff } = review
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
      <div class="acts">
        {actsOf(review).map((act) => (
          <ActButton key={act.title} act={act} onDone={onDone} />
        ))}
        <a class="button" href={paths.report(id, 'markdown')} download={`${id}.md`}>
          Markdown
        </a>
        <a class="button" href={paths.report(id, 'json')} download={`${id}.json`}>
          JSON
        </a>
        <button type="button" onClick={() => print()}>
          Print
        </button>
      </div>
    </>
  )
}

function actsOf(review: IncidentReview): Act[] {
  const { id } = review
  return [
    {
      title: 'Add a note',
      role: 'operator',
      path: paths.incidentAct(id, 'notes'),
      words: { field: 'text', label: 'Note' },
      effect: <p>Your note is kept with this incident and changes nothing else.</p>,
      done: 'The note is in the journal',
    },
    signOff(review),
  ]
}

export function signOff({ id, host, process, crashed, ended, signOff: known }: IncidentReview): Act {
  return {
    title: 'Sign off',
    consequence: 'Says that you have read it, under your name.',
    role: 'operator',
    path: paths.incidentAct(id, 'sign-off'),
    words: { field: 'text', label: 'What you found', hint: 'Your name says that you have read it.' },
    effect: (
      <p>
        Confirms that you have read what happened to{' '}
        {crashed !== null ? <strong>{crashed.name}</strong> : process !== null ? `${process} of ` : ''}
        {crashed === null && <strong>{host}</strong>}
        {crashed === null && process === null && ' and its instances'}.
      </p>
    ),
    senseless:
      ended === null
        ? 'Only after it has ended'
        : known === null
          ? null
          : `${known.by} already signed it off: add a note`,
    done: 'The incident is signed off',
  }
}

/** What is done with the incident as a whole: sign-off, notes, and the record to take away. */
import { reportFormats, type IncidentReview, type ReportFormat } from '../../../domain/review.ts'
import { paths } from '../../api/paths.ts'
import { ActButton, type Act } from '../../parts/act.tsx'
import { CompareMenu } from '../comparison/offers.tsx'
import { Menu } from '../../parts/menu.tsx'
import { link } from '../../router.ts'

export function Toolbar({ review, onDone }: { review: IncidentReview; onDone: () => void }) {
  const { id, host, advice } = review
  // Once, and where it is asked for.
  const isAdvised = advice.some(({ code }) => code === 'SIGN_OFF')
  return (
    <div class="acts toolbar">
      {!isAdvised && <ActButton act={signOff(review)} onDone={onDone} />}
      <ActButton act={addNote(id)} onDone={onDone} />
      <Menu title="Export">
        {(Object.keys(exports) as ReportFormat[]).map((format) => (
          <a key={format} href={paths.report(id, format)} download={`${id}${exports[format].ending}`}>
            {exports[format].title}
            <span class="under">{reportFormats[format]}</span>
          </a>
        ))}
      </Menu>
      <a class="button" href={link.notices({ incident: id })} title="Who was told of it, and whether it arrived">
        Notices
      </a>
      <CompareMenu title="Compare with…" of={{ id, host }} />
      <button type="button" class="print" onClick={() => print()}>
        Print
      </button>
    </div>
  )
}

const exports: Record<ReportFormat, { title: string; ending: string }> = {
  'post-mortem': { title: 'Post-mortem', ending: '-post-mortem.md' },
  markdown: { title: 'Full Markdown', ending: '.md' },
  json: { title: 'JSON', ending: '.json' },
}

function addNote(id: string): Act {
  return {
    title: 'Add a note',
    role: 'operator',
    repeats: true,
    path: paths.incidentAct(id, 'notes'),
    words: { field: 'text', label: 'Note' },
    effect: <p>Your note is kept with this incident and changes nothing else.</p>,
    done: 'The note is in the journal',
  }
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

/** The search in the head of every page: hosts, incidents and instances by name or id, reached by `/` and Ctrl-K. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { holdsForAPerson } from '../../domain/incident-phases.ts'
import type { SearchResult } from '../../domain/review.ts'
import { paths } from '../api/paths.ts'
import { useResource } from '../api/resource.ts'
import { after } from '../browser-clock.ts'
import { go, link } from '../router.ts'
import { counted } from '../words/count.ts'
import { verdictWord } from '../../domain/verdict.ts'
import { hostTone, outcomeTone, standing, type Tone } from '../../domain/text/tone.ts'
import { Tag, Time } from './text.tsx'

/** After the last letter. Shorter asks for words that nobody looked for, longer is waited for. */
const pauseMs = 80

/** Failed hosts that are named under the field; the Overview has them all. */
const plansNamed = 8

interface Found {
  to: string
  name: string
  beside: string
  at: string | null
  tag: { text: string; tone: Tone }
}

export function SearchBox() {
  const [text, setText] = useState('')
  const [open, setOpen] = useState(false)
  const [at, setAt] = useState(0)
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  const asked = useSettled(text.trim())
  const result = useResource<SearchResult>(asked === '' ? null : paths.search(asked))
  useShortcut(field)
  const groups = result.value === null ? [] : groupsOf(result.value)
  const found = groups.flatMap(({ members }) => members)
  const shown = open && text.trim() !== ''
  const close = (): void => {
    setOpen(false)
    setText('')
    field.current?.blur()
  }
  const follow = (one: Found | undefined): void => {
    // What stands there is about other words while those that were typed last are looked for.
    if (one === undefined || asked !== text.trim()) return
    close()
    go(one.to)
    scrollTo(0, 0)
  }
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') close()
    else if (event.key === 'Enter') follow(found[at])
    else if (event.key === 'ArrowDown') setAt((at + 1) % Math.max(1, found.length))
    else if (event.key === 'ArrowUp') setAt((at + found.length - 1) % Math.max(1, found.length))
    else return
    event.preventDefault()
  }
  const optionId = (place: number): string => `${id}-${place}`
  return (
    <div class="finder" role="search" aria-label="Everything">
      <input
        ref={field}
        type="text"
        role="combobox"
        aria-label="Search hosts, incidents and instances"
        aria-expanded={shown}
        aria-controls={`${id}-found`}
        aria-autocomplete="list"
        aria-activedescendant={shown && found.length > 0 ? optionId(at) : undefined}
        aria-keyshortcuts="/ Control+K"
        placeholder="Search"
        autocomplete="off"
        spellcheck={false}
        maxLength={255}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setOpen(true)
          setAt(0)
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKey}
      />
      <kbd aria-hidden="true">/</kbd>
      {/* What is pressed here must not take the focus from the field first: the list would be gone. */}
      <div class="found" hidden={!shown} onMouseDown={(event) => event.preventDefault()}>
        <div id={`${id}-found`} role="listbox" aria-label="Found">
          {groups.map(({ title, first, members }) => (
            <div key={title} role="group" aria-label={title}>
              <span class="found-title" aria-hidden="true">
                {title}
              </span>
              {members.map((one, place) => (
                <div
                  key={one.to}
                  id={optionId(first + place)}
                  role="option"
                  aria-selected={first + place === at}
                  onClick={() => follow(one)}
                  onMouseMove={() => setAt(first + place)}
                >
                  <span class="found-name">{one.name}</span>
                  <span class="found-beside">
                    {one.beside}
                    {one.at !== null && <Time at={one.at} />}
                  </span>
                  <Tag tone={one.tag.tone}>{one.tag.text}</Tag>
                </div>
              ))}
            </div>
          ))}
        </div>
        <p role="status">
          {result.failure !== null
            ? `${result.failure.message}.`
            : result.value === null
              ? 'Searching…'
              : found.length === 0
                ? nothing(result.value)
                : result.value.more
                  ? 'There is more: type on.'
                  : null}
        </p>
      </div>
    </div>
  )
}

/** What is looked for may be on a host that Lifeboat has not listed yet: its recovery is held, or has just begun. */
function nothing({ unlisted }: SearchResult): ComponentChildren {
  const [first] = unlisted
  if (first === undefined) return 'Nothing matches. Instances are on record once their host has failed.'
  return (
    <>
      Nothing matches. The instances of {unlisted.length === 1 ? 'this failed host' : 'these failed hosts'} are not on
      record yet; see there what would come back:{' '}
      {unlisted.slice(0, plansNamed).map(({ host }) => (
        <a key={host} href={link.plan(host)}>
          {host}{' '}
        </a>
      ))}
      {unlisted.length > plansNamed && `and ${counted(unlisted.length - plansNamed, 'more host')}`}
    </>
  )
}

/** The text once it has not changed for a moment; nothing at once. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    if (text === '') setSettled('')
    return text === '' ? undefined : after(pauseMs, () => setSettled(text))
  }, [text])
  return settled
}

/** `/` where nobody is writing, Ctrl-K anywhere but in a dialog. */
function useShortcut(field: { current: HTMLInputElement | null }): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const target = event.target instanceof Element ? event.target : null
      if ((target?.closest('dialog') ?? null) !== null) return
      const writing = (target?.closest('input, textarea, select') ?? null) !== null
      const slash = event.key === '/' && !writing && !event.ctrlKey && !event.metaKey && !event.altKey
      if (!slash && !(event.key === 'k' && (event.ctrlKey || event.metaKey))) return
      event.preventDefault()
      field.current?.focus()
      field.current?.select()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [field])
}

/** In the order in which people look for them; empty ones are left out. */
function groupsOf({
  instances,
  unlisted,
  hosts,
  incidents,
}: SearchResult): { title: string; first: number; members: Found[] }[] {
  const all: [string, Found[]][] = [
    [
      'Instances',
      instances.map(({ id, name, host, landedOn, incidents: times, outcome }) => ({
        to: link.instanceRecord(id),
        name,
        beside: `${landedOn ?? host}${times > 1 ? ` · ${counted(times, 'incident')}` : ''}`,
        at: null,
        tag: { text: outcome, tone: outcomeTone[outcome] },
      })),
    ],
    [
      'Instances of failed hosts, not recovered yet',
      unlisted.flatMap(({ host, instances: there }) =>
        there.map(({ id, name }) => ({
          to: link.plan(host, { find: id }),
          name,
          beside: host,
          at: null,
          tag: { text: 'open', tone: outcomeTone.open },
        })),
      ),
    ],
    [
      'Hosts',
      hosts.map(({ host, segment, ...seen }) => ({
        to: link.host(host),
        name: host,
        beside: segment,
        at: null,
        tag: { text: verdictWord({ ...seen, kind: seen.verdict }), tone: hostTone(seen) },
      })),
    ],
    [
      'Incidents',
      incidents.map((incident) => {
        const { text, tone } = standing(incident)
        const urgent = incident.held !== null && holdsForAPerson.has(incident.held.code)
        return {
          to: link.incident(incident.id),
          name: incident.host,
          beside: '',
          at: incident.openedAt,
          tag: { text, tone: urgent ? ('bad' as const) : tone },
        }
      }),
    ],
  ]
  let first = 0
  return all
    .filter(([, members]) => members.length > 0)
    .map(([title, members]) => {
      const group = { title, first, members }
      first += members.length
      return group
    })
}

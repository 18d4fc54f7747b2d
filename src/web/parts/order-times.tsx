/** When an order begins and ends: real times, in the browser's zone or in UTC, with the other beside what is picked. */
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { wallMs } from '../browser-clock.ts'
import { inputOf, isoOf, latestPick, type Zone } from '../words/picked-time.ts'
import { dayAndTime, utcTime, zoneName } from '../words/time.ts'

/** `end`: it begins at once. `both`: at once, or when a person says. */
export type TimesAsked = 'end' | 'both'

/** Fields of the order's body, ISO. No `from`: it begins at once. */
export interface OrderTimes {
  from?: string
  until: string | null
}

const spans = [
  ['30 min', 1_800_000],
  ['2 h', 7_200_000],
  ['8 h', 28_800_000],
  ['1 day', 86_400_000],
] as const

/** An order without an end is forgotten more easily than a short one is renewed. */
const usualMs = spans[0][1]

/** What is ordered where nothing is touched. */
export function usualTimes(): OrderTimes {
  return { until: new Date(wallMs() + usualMs).toISOString() }
}

export function OrderTimesFields({ asked, onChange }: { asked: TimesAsked; onChange: (times: OrderTimes) => void }) {
  const [from, setFrom] = useState('')
  const [zone, setZone] = useState<Zone>('local')
  const [until, setUntil] = useState(() => inputOf(wallMs() + usualMs, zone))
  /** What a person planned; a later beginning takes the end with it. Null: without an end. */
  const [lengthMs, setLengthMs] = useState<number | null>(usualMs)
  /** Null: not to be read. */
  const startOf = (begins: string): number | null => (begins === '' ? wallMs() : msOf(begins, zone))
  const tell = (begins: string, ends: string): void => {
    setFrom(begins)
    setUntil(ends)
    const [start, finish] = [begins, ends].map((text) => isoOf(text, zone))
    // What cannot be read makes its field invalid, and the form is not sent.
    if ((begins !== '' && !start) || (ends !== '' && !finish)) return
    onChange({ ...(start && { from: start }), until: finish ?? null })
  }
  const last = (ms: number | null, begins = from): void => {
    setLengthMs(ms)
    const start = startOf(begins)
    tell(begins, ms === null ? '' : start === null ? until : inputOf(start + ms, zone))
  }
  const end = (ends: string): void => {
    const start = msOf(inputOf(startOf(from) ?? wallMs(), zone), zone)
    const finish = msOf(ends, zone)
    if (ends === '') setLengthMs(null)
    else if (start !== null && finish !== null) setLengthMs(finish - start)
    tell(from, ends)
  }
  /** The same moments, in the words of the other zone. */
  const speak = (next: Zone): void => {
    const said = (text: string): string => {
      const ms = msOf(text, zone)
      return ms === null ? text : inputOf(ms, next)
    }
    setZone(next)
    setFrom(said(from))
    setUntil(said(until))
  }
  return (
    <>
      <ZoneChoice zone={zone} onPick={speak} />
      {asked === 'both' && (
        <TimeField
          label="Begins"
          value={from}
          zone={zone}
          least={inputOf(wallMs(), zone)}
          empty="Empty: at once."
          onPick={(begins) => last(lengthMs, begins)}
        />
      )}
      <TimeField
        label="Ends"
        value={until}
        zone={zone}
        least={inputOf(startOf(from) ?? wallMs(), zone)}
        empty="Empty: when someone ends it."
        onPick={end}
      />
      <div class="choice" role="group" aria-label="How long">
        {spans.map(([name, ms]) => (
          <button key={name} type="button" onClick={() => last(ms)}>
            {name}
          </button>
        ))}
        <button type="button" onClick={() => last(null)}>
          until I end it
        </button>
      </div>
    </>
  )
}

/** The cloud's logs and other people are often in UTC. */
function ZoneChoice({ zone, onPick }: { zone: Zone; onPick: (zone: Zone) => void }) {
  const local = zoneName(new Date(wallMs()).toISOString())
  if (/^(UTC|Etc\/UTC)/.test(local)) return <p class="hint">Times are in UTC.</p>
  return (
    <div class="choice" role="group" aria-label="Times in">
      {(['local', 'utc'] as const).map((one) => (
        <button key={one} type="button" aria-pressed={zone === one} onClick={() => onPick(one)}>
          {one === 'local' ? local : 'UTC'}
        </button>
      ))}
    </div>
  )
}

interface TimeFieldProps {
  label: string
  value: string
  zone: Zone
  least: string
  /** What an empty field means. */
  empty: string
  onPick: (value: string) => void
}

function TimeField({ label, value, zone, least, empty, onPick }: TimeFieldProps) {
  const id = useId()
  const element = useRef<HTMLInputElement>(null)
  const iso = isoOf(value, zone)
  const wrong = value !== '' && iso === null ? 'Pick a time before the year 10000.' : ''
  useLayoutEffect(() => element.current?.setCustomValidity(wrong), [wrong])
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        ref={element}
        type="datetime-local"
        value={value}
        min={least}
        max={latestPick}
        aria-invalid={wrong !== ''}
        aria-describedby={`${id}-hint`}
        onInput={(event) => onPick(event.currentTarget.value)}
      />
      <p id={`${id}-hint`} class="hint">
        {iso === null ? wrong || empty : otherZone(iso, zone)}
      </p>
    </div>
  )
}

function msOf(text: string, zone: Zone): number | null {
  const iso = isoOf(text, zone)
  return iso === null ? null : Date.parse(iso)
}

/** What is picked, as people in the other zone say it. */
function otherZone(iso: string, zone: Zone): string {
  return zone === 'utc' ? `UTC; ${dayAndTime(iso)} ${zoneName(iso)}` : `${zoneName(iso)}; ${utcTime(iso)}`
}

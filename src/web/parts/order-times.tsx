/** When an order begins and ends: real times, in the browser's zone or in UTC, with the other beside what is picked. */
import { useId, useState } from 'preact/hooks'
import { wallMs } from '../browser-clock.ts'
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
  const startOf = (begins: string): number => (begins === '' ? wallMs() : Date.parse(isoOf(begins, zone)))
  const tell = (begins: string, ends: string): void => {
    setFrom(begins)
    setUntil(ends)
    onChange({ ...(begins !== '' && { from: isoOf(begins, zone) }), until: ends === '' ? null : isoOf(ends, zone) })
  }
  const last = (ms: number | null, begins = from): void => {
    setLengthMs(ms)
    tell(begins, ms === null ? '' : inputOf(startOf(begins) + ms, zone))
  }
  const end = (ends: string): void => {
    const start = Date.parse(isoOf(inputOf(startOf(from), zone), zone))
    setLengthMs(ends === '' ? null : Date.parse(isoOf(ends, zone)) - start)
    tell(from, ends)
  }
  /** The same moments, in the words of the other zone. */
  const speak = (next: Zone): void => {
    const said = (text: string): string => (text === '' ? '' : inputOf(Date.parse(isoOf(text, zone)), next))
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
        least={inputOf(startOf(from), zone)}
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

type Zone = 'local' | 'utc'

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
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="datetime-local"
        value={value}
        min={least}
        aria-describedby={`${id}-hint`}
        onInput={(event) => onPick(event.currentTarget.value)}
      />
      <p id={`${id}-hint`} class="hint">
        {value === '' ? empty : otherZone(isoOf(value, zone), zone)}
      </p>
    </div>
  )
}

/** What is picked, as people in the other zone say it. */
function otherZone(iso: string, zone: Zone): string {
  return zone === 'utc' ? `UTC; ${dayAndTime(iso)} ${zoneName(iso)}` : `${zoneName(iso)}; ${utcTime(iso)}`
}

/** 2026-11-23T02:00, as such a field has it. */
function inputOf(ms: number, zone: Zone): string {
  const at = new Date(ms)
  if (zone === 'utc') return at.toISOString().slice(0, 16)
  return new Date(ms - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function isoOf(text: string, zone: Zone): string {
  return new Date(zone === 'utc' ? `${text}Z` : text).toISOString()
}

/** When an order begins and ends: real times, in the browser's zone, with the same in UTC beside what is picked. */
import { useId, useState } from 'preact/hooks'
import { wallMs } from '../browser-clock.ts'
import { utcTime, zoneName } from '../words/time.ts'

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
  const [until, setUntil] = useState(() => localInput(wallMs() + usualMs))
  /** What a person planned; a later beginning takes the end with it. Null: without an end. */
  const [lengthMs, setLengthMs] = useState<number | null>(usualMs)
  const startOf = (begins: string): number => (begins === '' ? wallMs() : Date.parse(begins))
  const tell = (begins: string, ends: string): void => {
    setFrom(begins)
    setUntil(ends)
    onChange({ ...(begins !== '' && { from: isoOf(begins) }), until: ends === '' ? null : isoOf(ends) })
  }
  const last = (ms: number | null, begins = from): void => {
    setLengthMs(ms)
    tell(begins, ms === null ? '' : localInput(startOf(begins) + ms))
  }
  const end = (ends: string): void => {
    setLengthMs(ends === '' ? null : Date.parse(ends) - Date.parse(localInput(startOf(from))))
    tell(from, ends)
  }
  return (
    <>
      {asked === 'both' && (
        <TimeField
          label="Begins"
          value={from}
          least={localInput(wallMs())}
          empty="Empty: at once."
          onPick={(begins) => last(lengthMs, begins)}
        />
      )}
      <TimeField
        label="Ends"
        value={until}
        least={localInput(startOf(from))}
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

interface TimeFieldProps {
  label: string
  value: string
  least: string
  /** What an empty field means. */
  empty: string
  onPick: (value: string) => void
}

function TimeField({ label, value, least, empty, onPick }: TimeFieldProps) {
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
        {value === '' ? empty : `${zoneName(isoOf(value))}; ${utcTime(isoOf(value))}`}
      </p>
    </div>
  )
}

/** 2026-11-23T02:00, in the browser's zone, as such a field has it. */
function localInput(ms: number): string {
  const at = new Date(ms)
  return new Date(ms - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function isoOf(local: string): string {
  return new Date(local).toISOString()
}
